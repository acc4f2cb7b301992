#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Writes the bits of DEFLATE data, the first one lowest (RFC 1951 § 3.1.1).
typedef struct {
    uint8_t *next;
    uint8_t *end;
    uint64_t bits;
    unsigned count;
    bool is_full;
} bit_writer;

/// Adds bits: 64 at most are held, and fewer than 8 after a flush.
static inline void put(bit_writer *out, uint64_t bits, unsigned count) {
    out->bits |= bits << out->count;
    out->count += count;
}

/// Writes the bytes that are full.
static inline void flush(bit_writer *out) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (out->end - out->next >= 8) {
        // All eight bytes are written, of which those that are full are kept.
        memcpy(out->next, &out->bits, 8);
        out->next += out->count >> 3;
        out->bits >>= out->count & ~7u;
        out->count &= 7;
        return;
    }
#endif
    while (out->count >= 8) {
        if (out->next == out->end) {
            out->is_full = true;
            out->count = 0;
            return;
        }
        *out->next++ = (uint8_t)out->bits;
        out->bits >>= 8;
        out->count -= 8;
    }
}

/// Fills the last byte up, and writes all.
static inline void finish(bit_writer *out) {
    if (out->count & 7) put(out, 0, 8 - (out->count & 7));
    flush(out);
}
