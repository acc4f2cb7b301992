// Reads DEFLATE data of a few KiB. zlib, which reads all streams, begins each one by copying the dictionary into its
// window, and makes tables for codes of more symbols than such data has.
#include <string.h>

#include "codes.h"
#include "dictionary.h"

enum { LONGEST_CODE = 15, LITERAL_BITS = 9, DISTANCE_BITS = 7, HEADER_BITS = 7 };

/// A prefix code as a reader needs it. Codes of up to as many bits as it is made for are found by the next bits of the
/// data, longer ones, which are rare, bit by bit from there.
typedef struct {
    /// By the next bits: a symbol, and in the lowest four bits its number of bits, 0 if these bits begin a longer code,
    /// or none.
    uint16_t entries[1 << LITERAL_BITS];
    /// The first code that has a bit more than the table, and how many symbols have shorter ones.
    unsigned first_long, short_count;
    /// How many codes there are of each length, and the symbols in the order of their codes.
    uint16_t counts[LONGEST_CODE + 1];
    uint16_t symbols[288];
} code_table;

/// Makes the table of a code with these lengths. False if they are no code: too many of them, or too few, unless that
/// is one code of one bit, or none at all. RFC 1951 has such codes for distances; zlib takes them for literals, too.
static bool make_table(code_table *table, unsigned bits, const uint8_t *lengths, unsigned count, bool may_be_partial) {
    // Most symbols have no code.
    uint16_t used[288];
    unsigned used_count = 0;
    for (unsigned symbol = 0; symbol < count; symbol++) {
        used[used_count] = (uint16_t)symbol;
        used_count += lengths[symbol] != 0;
    }
    memset(table->counts, 0, sizeof table->counts);
    for (unsigned index = 0; index < used_count; index++) table->counts[lengths[used[index]]]++;
    unsigned longest = LONGEST_CODE;
    while (longest > 0 && table->counts[longest] == 0) longest--;
    int left = 1;
    unsigned places[LONGEST_CODE + 2];
    places[1] = 0;
    for (unsigned length = 1; length <= LONGEST_CODE; length++) {
        left = 2 * left - table->counts[length];
        if (left < 0) return false;
        places[length + 1] = places[length] + table->counts[length];
    }
    if (left > 0 && (!may_be_partial || longest > 1)) return false;
    for (unsigned index = 0; index < used_count; index++) {
        table->symbols[places[lengths[used[index]]]++] = used[index];
    }
    // The table for codes of so many bits is the one for a bit less, twice, with the codes of this length. The first bit
    // of a code is the lowest of a place, so one is added to it at its highest bit, and carried down.
    table->entries[0] = 0;
    unsigned next = 0, code = 0;
    for (unsigned length = 1; length <= bits; length++) {
        unsigned half = 1u << (length - 1);
        memcpy(table->entries + half, table->entries, half * sizeof table->entries[0]);
        for (unsigned rest = table->counts[length]; rest > 0; rest--) {
            table->entries[code] = (uint16_t)(table->symbols[next++] << 4 | length);
            unsigned carry = half;
            while (code & carry) carry >>= 1;
            code = (code & (carry - 1)) | carry;
        }
    }
    table->short_count = next;
    table->first_long = 0;
    for (unsigned length = 1; length <= bits; length++) {
        table->first_long = (table->first_long + table->counts[length]) << 1;
    }
    return true;
}

static code_table fixed_literals, fixed_distances;

// Before anything can call the function that needs it, so no thread sees it incomplete.
__attribute__((constructor)) static void make_fixed_tables(void) {
    uint8_t lengths[288];
    for (unsigned symbol = 0; symbol < 288; symbol++) {
        lengths[symbol] = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
    }
    make_table(&fixed_literals, LITERAL_BITS, lengths, 288, false);
    memset(lengths, 5, 32);
    make_table(&fixed_distances, DISTANCE_BITS, lengths, 32, false);
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

/// Copies a match; false if it reaches back too far, or is longer than the rest of the output.
static inline bool copy(inflated *out, size_t distance, size_t length) {
    if (length > out->count - out->used) return false;
    if (distance > out->used) {
        size_t back = distance - out->used;
        if (back > out->dictionary_count) return false;
        size_t part = length < back ? length : back;
        memcpy(out->bytes + out->used, out->dictionary + out->dictionary_count - back, part);
        out->used += part;
        length -= part;
        // The rest of the match comes from the start of the output, at the same distance.
    }
    uint8_t *to = out->bytes + out->used;
    const uint8_t *from = to - distance;
    out->used += length;
    if (distance >= 8 && out->count - out->used >= 8) {
        // By eight, up to seven bytes too many, which come to stand in the output that is still to be filled.
        uint8_t *end = to + length;
        for (; to < end; to += 8, from += 8) memcpy(to, from, 8);
    } else if (distance >= length) {
        memcpy(to, from, length);
    } else {
        while (length-- > 0) *to++ = *from++;
    }
    return true;
}

/// Takes a symbol whose code is longer than the table's bits; false if the bits are no code, or too few.
static bool take_long(bit_reader *in, const code_table *table, unsigned bits, unsigned *symbol) {
    unsigned code = code_reversed((unsigned)in->bits & ((1u << bits) - 1), bits);
    unsigned first = table->first_long, place = table->short_count;
    for (unsigned length = bits + 1; length <= LONGEST_CODE && length <= in->count; length++) {
        code = code << 1 | ((unsigned)(in->bits >> (length - 1)) & 1);
        unsigned count = table->counts[length];
        if (code < first + count) {
            *symbol = table->symbols[place + (code - first)];
            in->bits >>= length;
            in->count -= length;
            return true;
        }
        place += count;
        first = (first + count) << 1;
    }
    return false;
}

/// Takes a symbol by a table of codes of up to `bits` bits.
static inline bool take_symbol(bit_reader *in, const code_table *table, unsigned bits, unsigned *symbol) {
    unsigned entry = table->entries[in->bits & ((1u << bits) - 1)], length = entry & 15;
    if (length == 0) return take_long(in, table, bits, symbol);
    if (length > in->count) return false;
    in->bits >>= length;
    in->count -= length;
    *symbol = entry >> 4;
    return true;
}

/// Reads symbols up to the end of their block.
static bool read_symbols(bit_reader *from, inflated *to, const code_table *literals, const code_table *distances) {
    // Copies, which no store to the output can change.
    bit_reader in = *from;
    inflated out = *to;
    for (;;) {
        refill(&in);
        unsigned symbol;
        if (!take_symbol(&in, literals, LITERAL_BITS, &symbol)) return false;
        if (symbol < END_OF_BLOCK) {
            // The bits are enough for two more.
            for (int more = 2; symbol < END_OF_BLOCK; more--) {
                if (out.used == out.count) return false;
                out.bytes[out.used++] = (uint8_t)symbol;
                if (more == 0) break;
                if (!take_symbol(&in, literals, LITERAL_BITS, &symbol)) return false;
            }
            if (symbol < END_OF_BLOCK) continue;
            refill(&in);
        }
        if (symbol == END_OF_BLOCK) break;
        unsigned place = symbol - 257, extra, more, distance;
        if (place > 28) return false;
        if (!take(&in, length_bits[place], &extra) || !take_symbol(&in, distances, DISTANCE_BITS, &distance)) return false;
        if (distance >= DISTANCE_SYMBOLS || !take(&in, distance_bits[distance], &more)) return false;
        if (!copy(&out, distance_base[distance] + more, length_base[place] + extra)) return false;
    }
    *from = in;
    *to = out;
    return true;
}

/// Reads a block with codes of its own (RFC 1951 § 3.2.7).
static bool read_own_codes(bit_reader *in, inflated *out) {
    unsigned literal_count, distance_count, header_count;
    if (!take(in, 5, &literal_count) || !take(in, 5, &distance_count) || !take(in, 4, &header_count)) return false;
    literal_count += 257;
    distance_count += 1;
    if (literal_count > LITERAL_SYMBOLS || distance_count > DISTANCE_SYMBOLS) return false;
    uint8_t lengths[LITERAL_SYMBOLS + DISTANCE_SYMBOLS] = {0};
    for (unsigned index = 0; index < header_count + 4; index++) {
        unsigned length;
        refill(in);
        if (!take(in, 3, &length)) return false;
        lengths[code_header_order[index]] = (uint8_t)length;
    }
    code_table literals, distances;
    // Those of the header are not needed any longer when those of literals are made.
    if (!make_table(&literals, HEADER_BITS, lengths, 19, false)) return false;
    unsigned total = literal_count + distance_count;
    for (unsigned used = 0; used < total;) {
        unsigned symbol, more;
        refill(in);
        if (!take_symbol(in, &literals, HEADER_BITS, &symbol)) return false;
        if (symbol < 16) {
            lengths[used++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 16 && used == 0) return false;
        if (!take(in, symbol == 16 ? 2 : symbol == 17 ? 3 : 7, &more)) return false;
        unsigned count = more + (symbol == 18 ? 11 : 3);
        if (count > total - used) return false;
        memset(lengths + used, symbol == 16 ? lengths[used - 1] : 0, count);
        used += count;
    }
    if (lengths[END_OF_BLOCK] == 0) return false;
    if (!make_table(&literals, LITERAL_BITS, lengths, literal_count, true)) return false;
    if (!make_table(&distances, DISTANCE_BITS, lengths + literal_count, distance_count, true)) return false;
    return read_symbols(in, out, &literals, &distances);
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

bool small_inflate(
    const void *dictionary, size_t dictionary_count, const void *bytes, size_t count, void *output, size_t expected) {
    bit_reader in = {bytes, (const uint8_t *)bytes + count, 0, 0};
    inflated out = {dictionary, dictionary_count, output, 0, expected};
    unsigned is_last = 0, type;
    while (is_last == 0) {
        refill(&in);
        if (!take(&in, 1, &is_last) || !take(&in, 2, &type)) return false;
        bool is_whole;
        switch (type) {
            case 0: is_whole = read_stored(&in, &out); break;
            case 1: is_whole = read_symbols(&in, &out, &fixed_literals, &fixed_distances); break;
            case 2: is_whole = read_own_codes(&in, &out); break;
            default: is_whole = false;
        }
        if (!is_whole) return false;
    }
    // Nothing but the rest of a byte may be left.
    return in.next - (in.count >> 3) == in.end && out.used == expected;
}
