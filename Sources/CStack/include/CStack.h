#pragma once
#include <stdbool.h>

/// How many levels of calls within each other are entered without a look at the stack: every thread has room for them.
enum { unchecked_levels = 4 };

/// Whether too little is left of the current thread's stack for another level of functions that call themselves as often
/// as their input demands: less than 128 KiB, or than half of a smaller stack. False if the system does not tell where
/// the stack ends.
bool stack_is_low(void);
