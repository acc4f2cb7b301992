// In C, because Swift does not see the functions that are not POSIX.
#define _GNU_SOURCE
#include "CFiles.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int64_t next_data(int descriptor, int64_t offset) {
#ifdef SEEK_DATA
    int64_t found = (int64_t)lseek(descriptor, offset, SEEK_DATA);
    return found == -1 && errno == EINVAL ? offset : found;
#else
    (void)descriptor;
    return offset;
#endif
}
