#pragma once
#include <stddef.h>

/// The current thread's stack: its lowest address, and its size in bytes; 0 and 0 if the system does not say.
void current_stack(size_t *lowest, size_t *size);

/// Where the stack of the caller is now. A local's address would not do: the address sanitizer keeps locals
/// elsewhere.
size_t current_stack_address(void);
