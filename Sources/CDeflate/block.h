#pragma once
#include "codes.h"

/// A literal, if `length` is 0, or a match.
typedef struct {
    uint16_t length;
    /// Or the literal.
    uint16_t distance;
    /// Of a match, its length's place in the tables, and its distance's symbol.
    uint8_t place, symbol;
} token;

/// How often each symbol comes.
typedef struct {
    uint16_t literals[LITERAL_SYMBOLS];
    uint16_t distances[DISTANCE_SYMBOLS];
} symbol_counts;

/// Writes literals and matches as one block, the last one of its stream, with the fixed codes or with codes of its own.
///
/// Returns how many bytes that took; 0 if there is no room for them.
size_t block_write(const token *tokens, size_t count, const symbol_counts *counts, void *output, size_t room);
