#include "CForking.h"
#include <unistd.h>

int fork_process(void) { return fork(); }
