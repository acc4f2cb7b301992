#ifndef ALLOCATED_MEMORY_H
#define ALLOCATED_MEMORY_H

#include <stdint.h>

/// How many bytes are allocated now, with what the allocator itself adds to each; -1 where that cannot be told.
int64_t memory_allocated(void);

/// Gives back to the system what is not allocated, as far as that goes.
void memory_trim(void);

#endif
