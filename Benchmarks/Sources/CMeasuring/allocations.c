#include "allocations.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_bool counting;
static atomic_uint_least64_t count;

void allocations_start_counting(void) {
    atomic_store(&count, 0);
    atomic_store(&counting, true);
}

uint64_t allocations_stop_counting(void) {
    atomic_store(&counting, false);
    return atomic_load(&count);
}

#ifdef __GLIBC__

// Functions of the executable replace the C library's, for the libraries that it loads as well. While counting is off,
// they cost a load and a branch more.
static inline void note_allocation(void) {
    if (__builtin_expect(atomic_load_explicit(&counting, memory_order_relaxed), 0)) {
        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    }
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

bool allocations_are_countable(void) { return true; }

void *malloc(size_t size) {
    note_allocation();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    note_allocation();
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    note_allocation();
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
    note_allocation();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note_allocation();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    note_allocation();
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    void *memory = __libc_memalign(alignment, size);
    if (memory == NULL) return ENOMEM;
    *block = memory;
    return 0;
}

#else

bool allocations_are_countable(void) { return false; }

#endif
