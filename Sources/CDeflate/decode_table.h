#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "codes.h"

// A table by which a prefix code is read: its place is the next bits of the data, its entry the symbol that they begin
// with. Codes of more bits than the table has are in subtables, whose places are the bits after those.
//
// An entry has, from its lowest bit:
//
//     0–5    how many bits it takes from the data: the code's, and the extra bits after it
//     8–11   how many of these are the code's; in an entry for a subtable, how many bits are its places
//     13–15  END_ENTRY, SUBTABLE_ENTRY, and SPECIAL_ENTRY, which both of these have, and alone means no code
//     16–30  a literal, the least length or distance, or where the subtable starts
//     31     LITERAL_ENTRY
//
// In a subtable the code's bits are those after the table's.
enum { END_ENTRY = 1 << 13, SUBTABLE_ENTRY = 1 << 14, SPECIAL_ENTRY = 1 << 15 };
#define LITERAL_ENTRY ((uint32_t)1 << 31)

enum {
    LONGEST_CODE = 15,
    ALL_LITERAL_SYMBOLS = 288,
    ALL_DISTANCE_SYMBOLS = 32,
    HEADER_SYMBOLS = 19,
    /// The most bits of a table for literals and lengths, and for distances, and for the header's lengths.
    LITERAL_BITS = 10,
    DISTANCE_BITS = 8,
    HEADER_BITS = 7,
    // A subtable of n bits is filled by codes of up to n more bits than the table has, one of them at least as long: so
    // by n + 1 symbols, which are 2^n / (n + 1) entries each. That grows with n, up to 5 bits after 10, and 7 after 8.
    LITERAL_ENTRIES = (1 << LITERAL_BITS) + ALL_LITERAL_SYMBOLS * 32 / 6,
    DISTANCE_ENTRIES = (1 << DISTANCE_BITS) + ALL_DISTANCE_SYMBOLS * 128 / 8
};

/// Makes the table of a code with these lengths, with as many bits as its longest code, `most_bits` at most.
///
/// `entries` are the symbols' entries without the code's bits. Returns how many bits the table has; 0 if the lengths are
/// no code: too many symbols for them, or too few, unless that is one code of one bit, or none, and `may_be_partial`.
unsigned decode_table_make(
    uint32_t *table, unsigned most_bits, const uint32_t *entries, const uint8_t *lengths, unsigned count,
    bool may_be_partial);

/// The tables for one block.
typedef struct {
    uint32_t literals[LITERAL_ENTRIES];
    uint32_t distances[DISTANCE_ENTRIES];
    unsigned literal_bits, distance_bits;
} decode_tables;

/// The symbols' entries without the code's bits.
extern uint32_t literal_entries[ALL_LITERAL_SYMBOLS], distance_entries[ALL_DISTANCE_SYMBOLS];
extern uint32_t header_entries[HEADER_SYMBOLS];

/// The tables for blocks with fixed codes (RFC 1951 § 3.2.6).
extern decode_tables fixed_tables;
