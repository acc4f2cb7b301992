// In C, because Swift does not see the functions that are not POSIX.
#define _GNU_SOURCE
#include "CFiles.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int allocate_blocks(int descriptor, int64_t length) {
#if defined(__linux__)
    return fallocate(descriptor, 0, 0, length);
#elif defined(F_PREALLOCATE)
    fstore_t store = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = length};
    return fcntl(descriptor, F_PREALLOCATE, &store) == -1 ? -1 : ftruncate(descriptor, length);
#else
    errno = EOPNOTSUPP;
    return -1;
#endif
}

int allocate_ahead(int descriptor, int64_t offset, int64_t length) {
#if defined(__linux__)
    return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, length);
#else
    errno = EOPNOTSUPP;
    return -1;
#endif
}
