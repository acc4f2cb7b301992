#include "CFiles.h"
#include <pthread.h>
#include <stdatomic.h>

static _Atomic uint64_t generation;

static void count_fork(void) { atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed); }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

uint64_t fork_generation(void) { return atomic_load_explicit(&generation, memory_order_relaxed); }
