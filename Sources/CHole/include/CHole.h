#ifndef CHOLE_H
#define CHOLE_H

#include <stdint.h>

// Gives the blocks of a part of a file back: zeros are read there from then on, and the file stays as long as it is.
// Returns 0, or -1 with errno.
int punch_hole(int descriptor, int64_t offset, int64_t length);

#endif
