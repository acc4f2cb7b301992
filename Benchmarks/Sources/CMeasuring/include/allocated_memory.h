#ifndef ALLOCATED_MEMORY_H
#define ALLOCATED_MEMORY_H

#include <stdint.h>

/// The bytes that are allocated now, with the allocator's overhead; -1 where the C library does not report them.
int64_t memory_allocated(void);

/// Gives free memory back to the system.
void memory_trim(void);

#endif
