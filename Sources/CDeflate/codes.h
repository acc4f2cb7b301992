#pragma once
#include <stddef.h>
#include <stdint.h>

// The symbols of DEFLATE (RFC 1951 § 3.2.5): literals, the end of a block, lengths of matches; and distances.
enum { END_OF_BLOCK = 256, LITERAL_SYMBOLS = 286, DISTANCE_SYMBOLS = 30, LARGEST_MATCH = 258 };

static const uint16_t length_base[29] = {
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t length_bits[29] = {
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
static const uint16_t distance_base[30] = {
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
    8193, 12289, 16385, 24577};
static const uint8_t distance_bits[30] = {
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

/// The place of a length of 3 to 258 in the tables above; its symbol is 257 more.
static inline unsigned length_place(unsigned length) {
    unsigned rest = length - 3;
    if (rest < 8) return rest;
    if (length == LARGEST_MATCH) return 28;
    unsigned bits = 31 - (unsigned)__builtin_clz(rest);
    return 4 * (bits - 1) + ((rest >> (bits - 2)) & 3);
}

/// The symbol of a distance of 1 to 32,768.
static inline unsigned distance_symbol(unsigned distance) {
    unsigned rest = distance - 1;
    if (rest < 4) return rest;
    unsigned bits = 31 - (unsigned)__builtin_clz(rest);
    return 2 * bits + ((rest >> (bits - 1)) & 1);
}

/// A prefix code: for each symbol its length in bits, 0 for one without a code, and the code.
typedef struct {
    uint8_t lengths[288];
    /// Each symbol's bits, the first one lowest, and from bit 16 on how many there are.
    uint32_t codes[288];
} prefix_code;

/// The order in which a block with codes of its own gives the lengths of the code that describes them.
static const uint8_t code_header_order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

/// The lowest bits of a number, 16 at most, in the opposite order.
static inline unsigned code_reversed(unsigned value, unsigned bits) {
    value = (value & 0x5555) << 1 | (value >> 1 & 0x5555);
    value = (value & 0x3333) << 2 | (value >> 2 & 0x3333);
    value = (value & 0x0f0f) << 4 | (value >> 4 & 0x0f0f);
    value = (value & 0x00ff) << 8 | (value >> 8 & 0x00ff);
    return value >> (16 - bits);
}

/// Finds the lengths of the shortest code in which none has more than `longest` bits, and assigns the bits. One symbol
/// at least is counted.
void code_make(prefix_code *code, const uint16_t *counts, size_t count, unsigned longest);

/// The code of literals and lengths that blocks with fixed codes have.
const prefix_code *code_fixed(void);

/// The code of distances that blocks with fixed codes have.
const prefix_code *code_fixed_distances(void);
