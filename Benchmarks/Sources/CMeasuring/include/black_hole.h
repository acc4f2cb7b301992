#ifndef BLACK_HOLE_H
#define BLACK_HOLE_H

/// Does nothing with what is there, which the caller's compiler cannot know.
void black_hole_take(const void *value);

#endif
