#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/// Whether allocations can be counted here at all.
bool allocations_are_countable(void);

/// Counts from zero from now on, in every thread.
void allocations_start_counting(void);

/// Stops counting, and tells how many allocations there were: malloc, calloc, realloc and aligned ones.
uint64_t allocations_stop_counting(void);

#endif
