#include "CFiles.h"

#include <sys/resource.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

void refuse_core_dumps(void) {
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
#if defined(__linux__)
    // Also those that the system pipes to a program, for which the limit does not count.
    (void)prctl(PR_SET_DUMPABLE, 0);
#endif
}
