#include "allocated_memory.h"

#include <stddef.h>

#ifdef __linux__
#include <malloc.h>
#endif

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)

int64_t memory_allocated(void) {
    struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
}

void memory_trim(void) { malloc_trim(0); }

#else

int64_t memory_allocated(void) { return -1; }

void memory_trim(void) {}

#endif
