#ifndef BLACK_HOLE_H
#define BLACK_HOLE_H

/// Does nothing with the value, which the compiler of the caller cannot know.
void black_hole_take(const void *value);

#endif
