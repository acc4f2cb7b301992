#include "CFiles.h"
#include <pthread.h>

uint64_t fork_count;

static void count_fork(void) { __atomic_fetch_add(&fork_count, 1, __ATOMIC_RELAXED); }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }
