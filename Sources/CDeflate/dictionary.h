#pragma once
#include "CDeflate.h"

enum { DICTIONARY_HASH_BITS = 15, NO_PLACE = 0xffff, DICTIONARY_PADDING = 264 };

struct small_dictionary {
    size_t count;
    /// By hash, the last place of a string of four bytes; `NO_PLACE` for none.
    uint16_t last[1 << DICTIONARY_HASH_BITS];
    /// For each place the one before it with the same hash: `count` places, then the bytes, and zeros after them that
    /// may be read, as many as the longest match has, and a word.
    uint16_t *before;
    uint8_t *bytes;
};
