#ifndef CFILES_H
#define CFILES_H

#include <stdint.h>

// Returns where the next bytes of a file are that are no hole, from an offset on; the offset itself where the file system
// cannot tell. Returns -1 with errno: ENXIO if there are none.
int64_t next_data(int descriptor, int64_t offset);

// Gives an empty file so many bytes of blocks, which are its length from then on. Returns 0, or -1 with errno.
int allocate_blocks(int descriptor, int64_t length);

// Gives a file the blocks of a part that may lie after its end; its length stays. Returns 0, or -1 with errno.
int allocate_ahead(int descriptor, int64_t offset, int64_t length);

// Waits until the device has everything that was written to the file system of an open file. Elsewhere than on Linux all
// file systems are told to write, and it may return before the device has it. Returns 0, or -1 with errno.
int sync_file_system(int descriptor);

// Tells how many names an open file has, and how long it is.
//
// Not its times: Linux gives a file a new time, which goes to the journal of its file system, with the first write after
// a caller has asked for them. A save that looks at the file before each write took half as long again.
//
// Returns 0, or -1 with errno.
int file_extent(int descriptor, uint64_t *link_count, int64_t *byte_count);

// Tells how often this process and those that it was forked from have been forked: a child counts one more than its
// parent did. No system call, as getpid is.
// Inline: each hit in memory asks for it.
extern uint64_t fork_count;
static inline uint64_t fork_generation(void) { return __atomic_load_n(&fork_count, __ATOMIC_RELAXED); }

// Takes the lock of one byte of an open file, which need not be there; it belongs to the open file, not to the process,
// and is given back when that is closed. Never waits.
//
// Returns 0, or -1 with errno: EAGAIN or EACCES if another open file has it.
int lock_byte(int descriptor, int64_t offset);

// Gives back the locks of all bytes that an open file has, also where a forked process has a copy of its descriptor.
//
// Returns 0, or -1 with errno.
int unlock_bytes(int descriptor);

// Has the system write no core dump of this process, whose memory has keys.
void refuse_core_dumps(void);

#endif
