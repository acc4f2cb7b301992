#ifndef CINSTANCE_H
#define CINSTANCE_H

#include <stddef.h>
#include <stdint.h>

/// The size of a Swift class's instances in bytes, header included.
size_t instance_size(const void *metadata);

/// A new instance of a Swift class whose stored properties are not initialized; +1.
void *instance_allocate(const void *metadata);

/// Frees an instance whose stored properties have been moved elsewhere; no deinitializer runs.
void instance_discard(void *instance, const void *metadata);

/// An instance's reference counts as the runtime keeps them: equal words mean equal counts.
uint64_t instance_counts(const void *instance);

#endif
