// Reads what `small_deflate` writes for most archives: blocks with fixed codes. zlib, which reads all streams, begins
// each one by copying the dictionary into its window.
#include <string.h>

#include "codes.h"
#include "dictionary.h"

/// By the next nine bits: the symbol of a literal or length, and in the lowest four bits its number of bits.
static uint16_t symbols[512];
/// By the next five bits: the symbol of a distance.
static uint8_t distance_symbols[32];

// Before anything can call the function that needs it, so no thread sees it incomplete.
__attribute__((constructor)) static void make_tables(void) {
    prefix_code code;
    for (unsigned symbol = 0; symbol < 288; symbol++) {
        code.lengths[symbol] = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
    }
    code_assign(&code, 288);
    for (unsigned symbol = 0; symbol < 288; symbol++) {
        unsigned length = code.lengths[symbol];
        for (unsigned rest = 0; rest < 1u << (9 - length); rest++) {
            symbols[code.bits[symbol] | rest << length] = (uint16_t)(symbol << 4 | length);
        }
    }
    memset(code.lengths, 5, 32);
    code_assign(&code, 32);
    for (unsigned symbol = 0; symbol < 32; symbol++) distance_symbols[code.bits[symbol]] = (uint8_t)symbol;
}

typedef struct {
    const uint8_t *next;
    const uint8_t *end;
    uint64_t bits;
    /// Of these, so many are the data's; the others are 0.
    unsigned count;
} bit_reader;

/// Has 48 bits ready, or all that are left.
static inline void refill(bit_reader *in) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (in->end - in->next >= 8) {
        uint64_t more;
        memcpy(&more, in->next, 8);
        in->bits |= more << in->count;
        in->next += (63 - in->count) >> 3;
        in->count |= 56;
        return;
    }
#endif
    while (in->count <= 56 && in->next < in->end) {
        in->bits |= (uint64_t)*in->next++ << in->count;
        in->count += 8;
    }
}

/// Takes bits; false if there are not so many.
static inline bool take(bit_reader *in, unsigned count, unsigned *value) {
    if (count > in->count) return false;
    *value = (unsigned)(in->bits & (((uint64_t)1 << count) - 1));
    in->bits >>= count;
    in->count -= count;
    return true;
}

typedef struct {
    const uint8_t *dictionary;
    size_t dictionary_count;
    uint8_t *bytes;
    size_t used;
    size_t count;
} inflated;

/// Copies a match; false if it reaches back too far, or is longer than what is expected.
static inline bool copy(inflated *out, size_t distance, size_t length) {
    if (length > out->count - out->used) return false;
    if (distance > out->used) {
        size_t back = distance - out->used;
        if (back > out->dictionary_count) return false;
        size_t part = length < back ? length : back;
        memcpy(out->bytes + out->used, out->dictionary + out->dictionary_count - back, part);
        out->used += part;
        length -= part;
        // What is left comes from the start of the output, at the same distance.
    }
    uint8_t *to = out->bytes + out->used;
    const uint8_t *from = to - distance;
    out->used += length;
    if (distance >= length) {
        memcpy(to, from, length);
    } else {
        while (length-- > 0) *to++ = *from++;
    }
    return true;
}

static bool read_fixed(bit_reader *in, inflated *out) {
    for (;;) {
        refill(in);
        unsigned entry = symbols[in->bits & 511], length = entry & 15, symbol = entry >> 4;
        if (length > in->count) return false;
        in->bits >>= length;
        in->count -= length;
        if (symbol < END_OF_BLOCK) {
            if (out->used == out->count) return false;
            out->bytes[out->used++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == END_OF_BLOCK) return true;
        unsigned place = symbol - 257, extra, more, code;
        if (place > 28) return false;
        if (!take(in, length_bits[place], &extra) || !take(in, 5, &code)) return false;
        unsigned distance = distance_symbols[code];
        if (distance >= DISTANCE_SYMBOLS || !take(in, distance_bits[distance], &more)) return false;
        if (!copy(out, distance_base[distance] + more, length_base[place] + extra)) return false;
    }
}

static bool read_stored(bit_reader *in, inflated *out) {
    // The rest of the byte is passed over.
    unsigned rest = in->count & 7;
    in->bits >>= rest;
    in->count -= rest;
    refill(in);
    unsigned count, complement;
    if (!take(in, 16, &count) || !take(in, 16, &complement) || count != (~complement & 0xffff)) return false;
    if (count > out->count - out->used) return false;
    // Bytes that are held already go back.
    in->next -= in->count >> 3;
    in->bits = 0;
    in->count = 0;
    if (count > (size_t)(in->end - in->next)) return false;
    memcpy(out->bytes + out->used, in->next, count);
    in->next += count;
    out->used += count;
    return true;
}

small_inflate_result small_inflate(
    const void *dictionary, size_t dictionary_count, const void *bytes, size_t count, void *output, size_t expected) {
    bit_reader in = {bytes, (const uint8_t *)bytes + count, 0, 0};
    inflated out = {dictionary, dictionary_count, output, 0, expected};
    unsigned is_last = 0, type;
    while (is_last == 0) {
        refill(&in);
        if (!take(&in, 1, &is_last) || !take(&in, 2, &type)) return SMALL_INFLATE_DAMAGED;
        if (type == 2) return SMALL_INFLATE_OTHER;
        if (type == 3) return SMALL_INFLATE_DAMAGED;
        if (!(type == 1 ? read_fixed(&in, &out) : read_stored(&in, &out))) return SMALL_INFLATE_DAMAGED;
    }
    // Nothing but the rest of a byte may be left.
    return in.next - (in.count >> 3) == in.end && out.used == expected ? SMALL_INFLATE_DONE : SMALL_INFLATE_DAMAGED;
}
