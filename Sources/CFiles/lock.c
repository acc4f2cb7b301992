// In C, because Swift does not see the functions that are not POSIX.
#define _GNU_SOURCE
#include "CFiles.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int lock_byte(int descriptor, int64_t offset) {
#ifdef F_OFD_SETLK
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
    return fcntl(descriptor, F_OFD_SETLK, &lock);
#else
    errno = EOPNOTSUPP;
    return -1;
#endif
}

int unlock_bytes(int descriptor) {
#ifdef F_OFD_SETLK
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, F_OFD_SETLK, &lock);
#else
    errno = EOPNOTSUPP;
    return -1;
#endif
}
