// In C, because Swift does not see the functions that are not POSIX.
#define _GNU_SOURCE
#include "CStack.h"
#include <pthread.h>
#include <stddef.h>

// The bytes that the last level, the runtime's look-ups of types and the making of an error may take.
static const size_t reserve = 128 << 10;

// The lowest address that may be reached; 0 before the system was asked, and 1 if it did not say. Asking takes a
// microsecond, on the first thread of Linux fifty; a thread's stack stays where it is.
static _Thread_local size_t limit;

static void find_limit(void) {
    size_t lowest = 0, size = 0;
#ifdef __APPLE__
    pthread_t thread = pthread_self();
    size = pthread_get_stacksize_np(thread);
    // This is the highest address: stacks grow downwards.
    lowest = (size_t)pthread_get_stackaddr_np(thread) - size;
#else
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void *address = NULL;
        if (pthread_attr_getstack(&attributes, &address, &size) == 0) lowest = (size_t)address;
        pthread_attr_destroy(&attributes);
    }
#endif
    limit = lowest == 0 ? 1 : lowest + (size / 2 < reserve ? size / 2 : reserve);
}

bool stack_is_low(void) {
    if (limit == 0) find_limit();
    // A local's address would not do: the address sanitizer keeps locals elsewhere. Addresses are compared, never followed.
    return (size_t)__builtin_frame_address(0) < limit;
}
