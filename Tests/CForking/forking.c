#include "CForking.h"
#include <signal.h>
#include <unistd.h>

// A thread of Dispatch blocks signals, which the child would never get: its alarm would not end it.
int fork_process(void) {
    pid_t process = fork();
    if (process == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
    }
    return process;
}
