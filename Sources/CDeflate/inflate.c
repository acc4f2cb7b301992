// Reads DEFLATE data (RFC 1951) of which it is known how many bytes it holds, from a whole input to a whole output.
//
// In C, because the inner loop reads and writes words at any address. Each one's argument stands beside it.
#include "CDeflate.h"
#include "bit_reader.h"
#include "decode_table.h"

bool refill_at_end(bit_reader *in) {
    // Bits that were taken of the zeros are not data.
    if (8 * in->missing > bits_ready(in)) return false;
    in->count = bits_ready(in);
    for (; in->count <= REFILLED_BITS; in->count += 8) {
        if (in->next < in->end) {
            in->bits |= (uint64_t)*in->next++ << in->count;
        } else {
            in->missing++;
        }
    }
    return true;
}

/// The output, and the bytes before it that matches refer to.
typedef struct {
    uint8_t *next;
    uint8_t *start;
    uint8_t *end;
    const uint8_t *dictionary;
    size_t dictionary_count;
} output_range;

// MARK: - Matches

/// The most bytes that `copy_in_words` writes after a match.
enum { COPY_EXCESS = 32 };

static inline void copy_word(uint8_t *to, const uint8_t *from) {
    uint64_t word;
    memcpy(&word, from, 8);
    memcpy(to, &word, 8);
}

static inline void copy_two_words(uint8_t *to, const uint8_t *from) {
    uint64_t one, two;
    memcpy(&one, from, 8);
    memcpy(&two, from + 8, 8);
    memcpy(to, &one, 8);
    memcpy(to + 8, &two, 8);
}

/// Copies a match in words: up to `COPY_EXCESS` bytes too many, which come to stand where output is still to come.
static inline void copy_in_words(uint8_t *to, size_t distance, size_t length) {
    const uint8_t *from = to - distance;
    uint8_t *end = to + length;
    if (distance >= 16) {
        // Two words are read before they are written.
        copy_two_words(to, from);
        copy_two_words(to + 16, from + 16);
        for (to += 32, from += 32; to < end; to += 16, from += 16) copy_two_words(to, from);
    } else if (distance >= 8) {
        do {
            copy_word(to, from);
            to += 8, from += 8;
        } while (to < end);
    } else if (distance == 1) {
        memset(to, *from, length);
    } else {
        // Of each word as many bytes as the distance are right; the next one begins after them.
        do {
            copy_word(to, from);
            to += distance, from += distance;
        } while (to < end);
    }
}

/// Copies a match of any length, byte by byte where it must, and returns its end; `NULL` if it is longer than the rest of
/// the output, or begins before the dictionary.
///
/// `out` is passed by value, so that its caller can keep it in registers.
static __attribute__((noinline)) uint8_t *copy_exactly(output_range out, size_t distance, size_t length) {
    if (length > (size_t)(out.end - out.next)) return NULL;
    size_t used = (size_t)(out.next - out.start);
    if (distance > used) {
        size_t back = distance - used;
        if (back > out.dictionary_count) return NULL;
        size_t part = length < back ? length : back;
        memcpy(out.next, out.dictionary + out.dictionary_count - back, part);
        out.next += part;
        length -= part;
        // The rest of the match comes from the start of the output, at the same distance.
    }
    if (length == 0) return out.next;
    uint8_t *end = out.next + length;
    if (out.end - end >= COPY_EXCESS) {
        copy_in_words(out.next, distance, length);
    } else {
        for (const uint8_t *from = out.next - distance; out.next < end;) *out.next++ = *from++;
    }
    return end;
}

/// Copies a match; false if it is longer than the rest of the output, or begins before the dictionary.
static inline bool copy_match(output_range *out, size_t distance, size_t length) {
    bool is_simple =
        distance <= (size_t)(out->next - out->start) && (size_t)(out->end - out->next) >= length + COPY_EXCESS;
    if (!is_simple) {
        uint8_t *end = copy_exactly(*out, distance, length);
        if (end == NULL) return false;
        out->next = end;
        return true;
    }
    copy_in_words(out->next, distance, length);
    out->next += length;
    return true;
}

// MARK: - Symbols

static inline uint32_t entry_at(const bit_reader *in, const uint32_t *table, unsigned bits) {
    return table[low_bits(in->bits, bits)];
}

/// Takes the bits of an entry that leads to a subtable, and returns the one there.
static inline uint32_t entry_in_subtable(bit_reader *in, const uint32_t *table, uint32_t entry) {
    skip(in, entry);
    return table[(entry >> 16) + low_bits(in->bits, entry >> 8 & 15)];
}

/// The symbol's entry, of which this one is the table's.
static inline uint32_t entry_in_any_table(bit_reader *in, const uint32_t *table, uint32_t entry) {
    return entry & SUBTABLE_ENTRY ? entry_in_subtable(in, table, entry) : entry;
}

/// Takes the bits of a length or distance, and returns it.
static inline unsigned take_value(bit_reader *in, uint32_t entry) {
    unsigned extra = (unsigned)(low_bits(in->bits, entry & 63) >> (entry >> 8 & 15));
    skip(in, entry);
    return (entry >> 16) + extra;
}

/// Takes the bits of a literal's entry, and writes the literal. There is room.
static inline void take_literal(bit_reader *in, output_range *out, uint32_t entry) {
    skip(in, entry);
    *out->next++ = (uint8_t)(entry >> 16);
}

typedef enum { SYMBOLS_GO_ON, SYMBOLS_END, SYMBOLS_ARE_WRONG } symbols_result;

/// How many bytes of the data and of the output `read_quickly` needs for a turn: for two refills, and three literals.
/// Matches are checked on their own.
enum { QUICK_INPUT = REFILL_TAKES + REFILL_READS, QUICK_OUTPUT = 3 };

/// Reads symbols as long as there is much data and room.
///
/// An entry is looked up as soon as the bits for its place are there, before the refill that the bits after it need. Bits
/// suffice without a check: of 56, two literals by the table take up to 20, and a length 15 and 5, which leaves 16 for
/// the place of a distance; of the next 56, a distance takes up to 28. Or a third literal takes 15, in a subtable, which
/// leaves 21 for the next place.
static symbols_result read_quickly(bit_reader *from, output_range *to, const decode_tables *tables) {
    if (from->end - from->next < QUICK_INPUT) return SYMBOLS_GO_ON;
    // Copies, which no store to the output can change.
    bit_reader in = *from;
    output_range out = *to;
    const uint32_t *literals = tables->literals, *distances = tables->distances;
    const unsigned literal_bits = tables->literal_bits, distance_bits = tables->distance_bits;
    symbols_result result = SYMBOLS_GO_ON;
    refill_within(&in);
    uint32_t entry = entry_at(&in, literals, literal_bits);
    while (in.end - in.next >= QUICK_INPUT && out.end - out.next >= QUICK_OUTPUT) {
        refill_within(&in);
        if (entry & LITERAL_ENTRY) {
            take_literal(&in, &out, entry);
            entry = entry_at(&in, literals, literal_bits);
            if (entry & LITERAL_ENTRY) {
                take_literal(&in, &out, entry);
                entry = entry_at(&in, literals, literal_bits);
                if (entry & LITERAL_ENTRY) goto last_literal;
            }
        }
        if (entry & SPECIAL_ENTRY) {
            entry = entry_in_any_table(&in, literals, entry);
            if (entry & LITERAL_ENTRY) goto last_literal;
            if (entry & SPECIAL_ENTRY) {
                skip(&in, entry);
                result = entry & END_ENTRY ? SYMBOLS_END : SYMBOLS_ARE_WRONG;
                break;
            }
        }
        unsigned length = take_value(&in, entry);
        entry = entry_at(&in, distances, distance_bits);
        refill_within(&in);
        if (entry & SPECIAL_ENTRY) {
            entry = entry_in_any_table(&in, distances, entry);
            if (entry & SPECIAL_ENTRY) {
                result = SYMBOLS_ARE_WRONG;
                break;
            }
        }
        unsigned distance = take_value(&in, entry);
        entry = entry_at(&in, literals, literal_bits);
        if (!copy_match(&out, distance, length)) {
            result = SYMBOLS_ARE_WRONG;
            break;
        }
        continue;

    last_literal:
        take_literal(&in, &out, entry);
        entry = entry_at(&in, literals, literal_bits);
    }
    *from = in;
    *to = out;
    return result;
}

/// Reads symbols up to the end of their block.
static bool read_symbols(bit_reader *in, output_range *out, const decode_tables *tables) {
    symbols_result result = read_quickly(in, out, tables);
    if (result != SYMBOLS_GO_ON) return result == SYMBOLS_END;
    for (;;) {
        // 56 bits are enough for a length of 15 and 5 bits, and a distance of 15 and 13.
        if (!refill(in)) return false;
        uint32_t entry = entry_at(in, tables->literals, tables->literal_bits);
        entry = entry_in_any_table(in, tables->literals, entry);
        if (entry & LITERAL_ENTRY) {
            if (out->next == out->end) return false;
            take_literal(in, out, entry);
            continue;
        }
        if (entry & SPECIAL_ENTRY) {
            skip(in, entry);
            return entry & END_ENTRY;
        }
        unsigned length = take_value(in, entry);
        entry = entry_at(in, tables->distances, tables->distance_bits);
        entry = entry_in_any_table(in, tables->distances, entry);
        if (entry & SPECIAL_ENTRY) return false;
        unsigned distance = take_value(in, entry);
        if (!copy_match(out, distance, length)) return false;
    }
}

// MARK: - Blocks

/// Reads the lengths of a block's codes; false if they are no such lengths.
static bool read_lengths(bit_reader *in, uint8_t *lengths, unsigned total, const uint32_t *table, unsigned bits) {
    for (unsigned used = 0; used < total;) {
        if (!refill(in)) return false;
        uint32_t entry = entry_at(in, table, bits);
        skip(in, entry);
        unsigned symbol = entry >> 16;
        if (symbol < 16) {
            lengths[used++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 16 && used == 0) return false;
        unsigned count = symbol == 16 ? 3 + take(in, 2) : symbol == 17 ? 3 + take(in, 3) : 11 + take(in, 7);
        if (count > total - used) return false;
        memset(lengths + used, symbol == 16 ? lengths[used - 1] : 0, count);
        used += count;
    }
    return true;
}

/// Reads a block with codes of its own (RFC 1951 § 3.2.7). One that has no code for its end is refused as any whose end does
/// not come.
static bool read_own_codes(bit_reader *in, output_range *out) {
    unsigned literal_count = 257 + take(in, 5), distance_count = 1 + take(in, 5), header_count = 4 + take(in, 4);
    if (literal_count > LITERAL_SYMBOLS || distance_count > DISTANCE_SYMBOLS) return false;
    uint8_t lengths[LITERAL_SYMBOLS + DISTANCE_SYMBOLS] = {0};
    for (unsigned index = 0; index < header_count; index++) {
        // 56 bits are enough for 18 lengths.
        if (index % 16 == 0 && !refill(in)) return false;
        lengths[code_header_order[index]] = (uint8_t)take(in, 3);
    }
    decode_tables tables;
    // Those of the header are not needed any longer when those of literals are made.
    unsigned bits = decode_table_make(tables.literals, HEADER_BITS, header_entries, lengths, HEADER_SYMBOLS, false);
    if (bits == 0 || !read_lengths(in, lengths, literal_count + distance_count, tables.literals, bits)) return false;
    tables.literal_bits =
        decode_table_make(tables.literals, LITERAL_BITS, literal_entries, lengths, literal_count, true);
    tables.distance_bits = decode_table_make(
        tables.distances, DISTANCE_BITS, distance_entries, lengths + literal_count, distance_count, true);
    if (tables.literal_bits == 0 || tables.distance_bits == 0) return false;
    return read_symbols(in, out, &tables);
}

static bool read_stored(bit_reader *in, output_range *out) {
    // The rest of the byte is passed over.
    skip(in, in->count & 7);
    if (!refill(in)) return false;
    unsigned count = take(in, 16), complement = take(in, 16);
    if (count != (~complement & 0xffff) || count > (size_t)(out->end - out->next)) return false;
    // Bytes that are held already go back.
    if (in->missing > bits_ready(in) / 8) return false;
    in->next -= bits_ready(in) / 8 - in->missing;
    in->bits = in->count = in->missing = 0;
    if (count > (size_t)(in->end - in->next)) return false;
    memcpy(out->next, in->next, count);
    in->next += count;
    out->next += count;
    return true;
}

bool inflate_whole(
    const void *dictionary, size_t dictionary_count, const void *bytes, size_t count, void *output, size_t expected) {
    bit_reader in = {bytes, (const uint8_t *)bytes + count, 0, 0, 0};
    output_range out = {output, output, (uint8_t *)output + expected, dictionary, dictionary_count};
    unsigned is_last = 0;
    while (is_last == 0) {
        if (!refill(&in)) return false;
        is_last = take(&in, 1);
        bool is_whole = false;
        switch (take(&in, 2)) {
            case 0: is_whole = read_stored(&in, &out); break;
            case 1: is_whole = read_symbols(&in, &out, &fixed_tables); break;
            case 2: is_whole = read_own_codes(&in, &out); break;
        }
        if (!is_whole) return false;
    }
    // Nothing but the rest of a byte may be left, and no bit of the zeros after the data was taken.
    return in.next == in.end && bits_ready(&in) / 8 == in.missing && out.next == out.end;
}
