// In C, because Swift does not see the functions that are not POSIX.
#define _GNU_SOURCE
#include "CStack.h"
#include <pthread.h>

// Asking takes a microsecond, on the first thread of Linux fifty; a thread's stack stays where it is.
static _Thread_local size_t known_lowest, known_size;

void current_stack(size_t *lowest, size_t *size) {
    if (known_size != 0) {
        *lowest = known_lowest;
        *size = known_size;
        return;
    }
    *lowest = 0;
    *size = 0;
#ifdef __APPLE__
    pthread_t thread = pthread_self();
    *size = pthread_get_stacksize_np(thread);
    // This is the highest address: stacks grow downwards.
    *lowest = (size_t)pthread_get_stackaddr_np(thread) - *size;
#else
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void *address = NULL;
    if (pthread_attr_getstack(&attributes, &address, size) == 0) *lowest = (size_t)address;
    pthread_attr_destroy(&attributes);
#endif
    known_lowest = *lowest;
    known_size = *size;
}

size_t current_stack_address(void) { return (size_t)__builtin_frame_address(0); }
