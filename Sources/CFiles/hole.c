// In C, because Swift does not see the functions that are not POSIX.
#define _GNU_SOURCE
#include "CFiles.h"
#include <errno.h>
#include <fcntl.h>

int punch_hole(int descriptor, int64_t offset, int64_t length) {
#if defined(__linux__)
    return fallocate(descriptor, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, offset, length);
#elif defined(F_PUNCHHOLE)
    fpunchhole_t hole = {.fp_offset = offset, .fp_length = length};
    return fcntl(descriptor, F_PUNCHHOLE, &hole);
#else
    errno = EOPNOTSUPP;
    return -1;
#endif
}
