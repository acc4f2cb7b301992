#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Reads the bits of DEFLATE data, the first one lowest (RFC 1951 § 3.1.1).
///
/// After the data come zeros, so that most code need not ask how many bits are left: data that ends too early is noticed
/// by the next refill, or after the last block.
typedef struct {
    const uint8_t *next;
    const uint8_t *end;
    /// The next bits. Those after `count` are 0, or the data's own.
    uint64_t bits;
    /// How many are ready, in the lowest six bits; the others mean nothing.
    uint32_t count;
    /// How many bytes of zeros were added after the data.
    uint32_t missing;
} bit_reader;

enum {
    /// How many bits there are after a refill, at least.
    REFILLED_BITS = 56,
    /// How many bytes a refill reads from, and the most by which it moves on.
    REFILL_READS = 8,
    REFILL_TAKES = 7
};

static inline uint64_t word_at(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline unsigned bits_ready(const bit_reader *in) { return in->count & 63; }

/// Gets `REFILLED_BITS` bits ready. At least `REFILL_READS` bytes of the data are left.
static inline void refill_within(bit_reader *in) {
    // Bytes that do not fit as a whole are read again later, to the same bits.
    in->bits |= word_at(in->next) << bits_ready(in);
    in->next += (~in->count & 63) >> 3;
    in->count |= REFILLED_BITS;
}

/// As `refill`, close to the end of the data.
bool refill_at_end(bit_reader *in);

/// Gets `REFILLED_BITS` bits ready; false if bits after the end of the data have been taken.
static inline bool refill(bit_reader *in) {
    if (in->end - in->next < REFILL_READS) return refill_at_end(in);
    refill_within(in);
    return true;
}

static inline uint64_t low_bits(uint64_t bits, unsigned count) { return bits & (((uint64_t)1 << count) - 1); }

/// Passes over bits that are ready; only the lowest six bits of `count` are regarded.
static inline void skip(bit_reader *in, uint32_t count) {
    in->bits >>= count & 63;
    in->count -= count;
}

/// Takes bits that are ready.
static inline unsigned take(bit_reader *in, unsigned count) {
    unsigned value = (unsigned)low_bits(in->bits, count);
    skip(in, count);
    return value;
}
