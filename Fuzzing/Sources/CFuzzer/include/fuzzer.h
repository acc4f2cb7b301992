#ifndef FUZZER_H
#define FUZZER_H

#include <stddef.h>
#include <stdint.h>

/// libFuzzer itself: tries inputs until a limit of its options is reached. Returns the exit code.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#endif
