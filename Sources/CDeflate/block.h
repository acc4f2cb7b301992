#pragma once
#include "bit_writer.h"
#include "codes.h"

/// The most bytes of a block, so that it can be a stored one, and no count of its symbols overflows 16 bits.
enum { LARGEST_BLOCK = 65535 };

/// Literals, and the match that comes after them; none if its length is 0.
typedef struct {
    uint16_t literals;
    uint16_t length;
    /// From 1 to 32,768.
    uint16_t distance;
    /// The length's place in the tables, and the distance's symbol.
    uint8_t place, symbol;
} sequence;

/// How often each symbol comes.
typedef struct {
    uint16_t literals[LITERAL_SYMBOLS];
    uint16_t distances[DISTANCE_SYMBOLS];
} symbol_counts;

/// A part of an input, divided.
typedef struct {
    const uint8_t *bytes;
    size_t count;
    const sequence *sequences;
    size_t sequence_count;
    const symbol_counts *counts;
} block;

static inline sequence sequence_make(size_t literals, unsigned length, unsigned distance, symbol_counts *counts) {
    unsigned place = length_place(length), symbol = distance_symbol(distance);
    counts->literals[257 + place]++;
    counts->distances[symbol]++;
    return (sequence){(uint16_t)literals, (uint16_t)length, (uint16_t)distance, (uint8_t)place, (uint8_t)symbol};
}

/// Writes a block with the fixed codes, with codes of its own, or as it is: in few bits.
void block_write(bit_writer *out, const block *block, bool is_last);

/// Writes an empty stored block, which ends at the end of a byte, and is not the last one.
void block_write_empty(bit_writer *out);
