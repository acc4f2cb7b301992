// In C, because Swift does not see the functions that are not POSIX.
#define _GNU_SOURCE
#include "CFiles.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

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

int64_t next_data(int descriptor, int64_t offset) {
#ifdef SEEK_DATA
    int64_t found = (int64_t)lseek(descriptor, offset, SEEK_DATA);
    return found == -1 && errno == EINVAL ? offset : found;
#else
    (void)descriptor;
    return offset;
#endif
}
