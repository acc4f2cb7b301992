#ifndef CFORKING_H
#define CFORKING_H

// Forks this process; 0 in the child. In C, because Swift sees no such function.
int fork_process(void);

#endif
