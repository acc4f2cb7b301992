// In C, because the inner loops work on words at any address.
//
// The strings of a dictionary are indexed once and never copied, unlike zlib's, which begins each stream with a copy of
// its state: for an archive of 400 bytes that copy takes longer than finding its strings.
#include <string.h>

#include "codes.h"
#include "dictionary.h"

enum { LARGEST_HASH_BITS = 12, SHORTEST_MATCH = 4 };

/// Up to so many bytes an input is searched as long as the caller says, and with the smallest index.
enum { SHORT_INPUT = 640, SHORT_HASH_BITS = 10 };

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

/// One input, and the strings of it that were passed.
typedef struct {
    const small_dictionary *dictionary;
    const uint8_t *bytes;
    size_t count;
    int depth;
    /// A match of so many bytes is taken at once; after a shorter one, the next place is looked at, too.
    unsigned good_match;
    /// Strings that begin inside of longer matches are not indexed: they are found by way of where the match came from.
    unsigned longest_indexed;
    int hash_bits;
    uint16_t last[1 << LARGEST_HASH_BITS];
    uint16_t before[SMALL_DEFLATE_LARGEST_INPUT];
} input;

typedef struct {
    unsigned length;
    unsigned distance;
    /// How many bits less it takes than its bytes would as literals.
    int gain;
} match;

static inline uint32_t word(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/// How many bytes are equal, `most` at most.
static inline unsigned equal_count(const uint8_t *one, const uint8_t *other, unsigned most) {
    unsigned count = 0;
    for (; count + 8 <= most; count += 8) {
        uint64_t a, b;
        memcpy(&a, one + count, 8);
        memcpy(&b, other + count, 8);
        if (a == b) continue;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        return count + (unsigned)(__builtin_ctzll(a ^ b) >> 3);
#else
        return count + (unsigned)(__builtin_clzll(a ^ b) >> 3);
#endif
    }
    while (count < most && one[count] == other[count]) count++;
    return count;
}

static inline int match_cost(unsigned length, unsigned distance) {
    unsigned place = length_place(length), symbol = distance_symbol(distance);
    return (place < 23 ? 7 : 8) + length_bits[place] + 5 + distance_bits[symbol];
}

static inline void consider(match *best, unsigned length, unsigned distance) {
    if (length < SHORTEST_MATCH || length <= best->length) return;
    int gain = 8 * (int)length - match_cost(length, distance);
    if (gain > best->gain) *best = (match){length, distance, gain};
}

/// How far a match at `distance` goes, which may lie in the dictionary.
static inline unsigned length_at(const input *in, size_t place, unsigned distance, unsigned most) {
    if (distance <= place) return equal_count(in->bytes + place, in->bytes + place - distance, most);
    // Matches end with the dictionary, since the input does not stand behind it.
    size_t back = distance - place;
    if (in->dictionary == NULL || back > in->dictionary->count) return 0;
    unsigned limit = back < most ? (unsigned)back : most;
    return equal_count(in->bytes + place, in->dictionary->bytes + in->dictionary->count - back, limit);
}

/// The match of more than `least` bytes that saves most at a place; none has a gain of 0.
static inline match find(const input *in, size_t place, unsigned last_distance, unsigned least) {
    match best = {least, 0, 0};
    size_t left = in->count - place;
    if (left < SHORTEST_MATCH || left <= least) return best;
    unsigned most = left < LARGEST_MATCH ? (unsigned)left : LARGEST_MATCH;
    const uint8_t *here = in->bytes + place;
    uint32_t string = word(here);
    // The former match often goes on behind a byte that differs.
    if (last_distance != 0) consider(&best, length_at(in, place, last_distance, most), last_distance);
    int tries = in->depth;
    for (unsigned at = in->last[hash_of(string, in->hash_bits)]; at != NO_PLACE && tries-- > 0; at = in->before[at]) {
        // `at + best.length` is before `place + most`, which is within the input.
        if (best.length < most && in->bytes[at + best.length] != here[best.length]) continue;
        if (word(in->bytes + at) != string) continue;
        consider(&best, equal_count(here, in->bytes + at, most), (unsigned)(place - at));
    }
    const small_dictionary *dictionary = in->dictionary;
    if (dictionary == NULL || best.length == most) return best;
    tries = in->depth;
    unsigned at = dictionary->last[hash_of(string, DICTIONARY_HASH_BITS)];
    for (; at != NO_PLACE && tries-- > 0; at = dictionary->before[at]) {
        unsigned limit = (unsigned)(dictionary->count - at);
        if (limit > most) limit = most;
        if (limit <= best.length || dictionary->bytes[at + best.length] != here[best.length]) continue;
        if (word(dictionary->bytes + at) != string) continue;
        unsigned length = equal_count(here, dictionary->bytes + at, limit);
        consider(&best, length, (unsigned)(place + dictionary->count - at));
        if (best.length == most) break;
    }
    return best;
}

static inline void pass(input *in, size_t place) {
    if (in->count - place < 4) return;
    uint32_t hash = hash_of(word(in->bytes + place), in->hash_bits);
    in->before[place] = in->last[hash];
    in->last[hash] = (uint16_t)place;
}

/// Divides the input into literals and matches; returns how many there are, one for each byte at most.
static size_t divide(input *in, token *tokens, symbol_counts *counts) {
    size_t used = 0, place = 0;
    unsigned last_distance = 0;
    match found = {0, 0, 0};
    bool is_found = false;
    while (place < in->count) {
        if (!is_found) found = find(in, place, last_distance, 0);
        is_found = false;
        pass(in, place);
        if (found.gain > 0 && found.length < in->good_match && place + 1 < in->count) {
            // A match that begins one byte later may save more than this one.
            match next = find(in, place + 1, last_distance, found.length + 1);
            if (next.gain > 0) {
                counts->literals[in->bytes[place]]++;
                tokens[used++] = (token){0, in->bytes[place++], 0, 0};
                found = next;
                is_found = true;
                continue;
            }
        }
        if (found.gain <= 0) {
            counts->literals[in->bytes[place]]++;
            tokens[used++] = (token){0, in->bytes[place++], 0, 0};
            continue;
        }
        unsigned length = length_place(found.length), symbol = distance_symbol(found.distance);
        counts->literals[257 + length]++;
        counts->distances[symbol]++;
        tokens[used++] =
            (token){(uint16_t)found.length, (uint16_t)found.distance, (uint8_t)length, (uint8_t)symbol};
        last_distance = found.distance;
        size_t end = place + found.length;
        if (found.length <= in->longest_indexed) {
            for (place++; place < end; place++) pass(in, place);
        }
        place = end;
    }
    counts->literals[END_OF_BLOCK]++;
    return used;
}

/// Bits that go to the output, the first one lowest.
typedef struct {
    uint8_t *next;
    uint8_t *end;
    uint64_t bits;
    unsigned count;
    bool is_full;
} bit_writer;

/// 48 bits at most between two flushes, and fewer than 8 are held after one.
static inline void put(bit_writer *out, uint64_t bits, unsigned count) {
    out->bits |= bits << out->count;
    out->count += count;
}

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

static void write_tokens(
    bit_writer *out, const token *tokens, size_t count, const prefix_code *literals, const prefix_code *distances) {
    // A copy, which no store to the output can change.
    bit_writer copy = *out;
    for (size_t index = 0; index < count && !copy.is_full; index++) {
        token token = tokens[index];
        if (token.length == 0) {
            put(&copy, literals->bits[token.distance], literals->lengths[token.distance]);
        } else {
            unsigned place = token.place, symbol = token.symbol;
            put(&copy, literals->bits[257 + place], literals->lengths[257 + place]);
            put(&copy, token.length - length_base[place], length_bits[place]);
            put(&copy, distances->bits[symbol], distances->lengths[symbol]);
            put(&copy, token.distance - distance_base[symbol], distance_bits[symbol]);
        }
        flush(&copy);
    }
    put(&copy, literals->bits[END_OF_BLOCK], literals->lengths[END_OF_BLOCK]);
    flush(&copy);
    *out = copy;
}

// MARK: - Codes of a block's own

/// The codes that a block has of its own, and how they are written (RFC 1951 § 3.2.7).
typedef struct {
    prefix_code literals;
    prefix_code distances;
    prefix_code header;
    size_t literal_count;
    size_t distance_count;
    size_t header_count;
    /// Symbols of the header, each with the bits behind it in the upper byte.
    uint16_t runs[LITERAL_SYMBOLS + DISTANCE_SYMBOLS];
    size_t run_count;
} block_codes;

static const uint8_t header_bits[19] = {[16] = 2, [17] = 3, [18] = 7};

/// Finds the codes for these counts; returns how many bits the whole block takes.
static size_t make_codes(block_codes *codes, const uint16_t *literals, const uint16_t *distances) {
    code_make(&codes->literals, literals, LITERAL_SYMBOLS, 15);
    code_make(&codes->distances, distances, DISTANCE_SYMBOLS, 15);
    codes->literal_count = LITERAL_SYMBOLS;
    while (codes->literals.lengths[codes->literal_count - 1] == 0) codes->literal_count--;
    codes->distance_count = DISTANCE_SYMBOLS;
    while (codes->distance_count > 1 && codes->distances.lengths[codes->distance_count - 1] == 0) {
        codes->distance_count--;
    }
    uint8_t lengths[LITERAL_SYMBOLS + DISTANCE_SYMBOLS];
    size_t total = codes->literal_count + codes->distance_count;
    memcpy(lengths, codes->literals.lengths, codes->literal_count);
    memcpy(lengths + codes->literal_count, codes->distances.lengths, codes->distance_count);
    uint16_t counts[19] = {0};
    codes->run_count = 0;
    for (size_t start = 0; start < total;) {
        unsigned length = lengths[start];
        size_t run = 1;
        while (start + run < total && lengths[start + run] == length) run++;
        start += run;
        if (length != 0) {
            // The length itself comes first, then how often it comes again.
            codes->runs[codes->run_count++] = (uint16_t)length;
            counts[length]++;
            run--;
        }
        while (run >= 3) {
            size_t most = length != 0 ? 6 : 138;
            size_t part = run < most ? run : most;
            unsigned symbol = length != 0 ? 16 : part < 11 ? 17 : 18;
            unsigned rest = (unsigned)part - (symbol == 18 ? 11 : 3);
            codes->runs[codes->run_count++] = (uint16_t)(rest << 8 | symbol);
            counts[symbol]++;
            run -= part;
        }
        for (; run > 0; run--) {
            codes->runs[codes->run_count++] = (uint16_t)length;
            counts[length]++;
        }
    }
    code_make(&codes->header, counts, 19, 7);
    codes->header_count = 19;
    while (codes->header_count > 4 && codes->header.lengths[code_header_order[codes->header_count - 1]] == 0) {
        codes->header_count--;
    }
    size_t bits = 3 + 14 + 3 * codes->header_count;
    for (unsigned symbol = 0; symbol < 19; symbol++) {
        bits += (size_t)counts[symbol] * (codes->header.lengths[symbol] + header_bits[symbol]);
    }
    for (unsigned symbol = 0; symbol < LITERAL_SYMBOLS; symbol++) {
        unsigned extra = symbol > END_OF_BLOCK ? length_bits[symbol - 257] : 0;
        bits += (size_t)literals[symbol] * (codes->literals.lengths[symbol] + extra);
    }
    for (unsigned symbol = 0; symbol < DISTANCE_SYMBOLS; symbol++) {
        bits += (size_t)distances[symbol] * (codes->distances.lengths[symbol] + distance_bits[symbol]);
    }
    return bits;
}

static void write_codes(bit_writer *out, const block_codes *codes) {
    put(out, codes->literal_count - 257, 5);
    put(out, codes->distance_count - 1, 5);
    put(out, codes->header_count - 4, 4);
    flush(out);
    for (size_t index = 0; index < codes->header_count; index++) {
        put(out, codes->header.lengths[code_header_order[index]], 3);
        flush(out);
    }
    for (size_t index = 0; index < codes->run_count && !out->is_full; index++) {
        unsigned symbol = codes->runs[index] & 0xff;
        put(out, codes->header.bits[symbol], codes->header.lengths[symbol]);
        put(out, codes->runs[index] >> 8, header_bits[symbol]);
        flush(out);
    }
}

// MARK: - A stream

/// How many bits a block with fixed codes takes.
static size_t fixed_block_bits(const symbol_counts *counts) {
    const prefix_code *fixed = code_fixed();
    size_t bits = 3;
    for (unsigned symbol = 0; symbol < LITERAL_SYMBOLS; symbol++) {
        bits += (size_t)counts->literals[symbol] * fixed->lengths[symbol];
    }
    for (unsigned place = 0; place < 29; place++) bits += (size_t)counts->literals[257 + place] * length_bits[place];
    for (unsigned symbol = 0; symbol < DISTANCE_SYMBOLS; symbol++) {
        bits += (size_t)counts->distances[symbol] * (5u + distance_bits[symbol]);
    }
    return bits;
}

/// Below so many bits, codes of a block's own save less than their description takes.
enum { LEAST_OWN_CODES = 1200 };

static void write_block(bit_writer *out, const token *tokens, size_t count, const symbol_counts *counts) {
    size_t fixed_bits = fixed_block_bits(counts);
    block_codes codes;
    if (fixed_bits >= LEAST_OWN_CODES) {
        if (make_codes(&codes, counts->literals, counts->distances) < fixed_bits) {
            put(out, 1 | 2 << 1, 3);
            write_codes(out, &codes);
            return write_tokens(out, tokens, count, &codes.literals, &codes.distances);
        }
    }
    prefix_code distance_code;
    memset(distance_code.lengths, 5, DISTANCE_SYMBOLS);
    code_assign(&distance_code, DISTANCE_SYMBOLS);
    put(out, 1 | 1 << 1, 3);
    write_tokens(out, tokens, count, code_fixed(), &distance_code);
}

static uint8_t *write_big_endian(uint8_t *bytes, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) *bytes++ = (uint8_t)(value >> shift);
    return bytes;
}

size_t small_deflate(
    const small_dictionary *dictionary, const void *bytes, size_t count, int depth, void *output, size_t room) {
    if (count > SMALL_DEFLATE_LARGEST_INPUT) return 0;
    size_t header = dictionary != NULL ? 6 : 2;
    if (room < header + 4) return 0;
    uint8_t *next = output;
    // A window of 2^15; a multiple of 31 with the bit for a dictionary, and without.
    *next++ = 0x78;
    *next++ = dictionary != NULL ? 0x20 | (31 - (0x7820 % 31)) : 0x01;
    if (dictionary != NULL) next = write_big_endian(next, dictionary->identifier);

    input in;
    in.dictionary = dictionary;
    in.bytes = bytes;
    in.count = count;
    bool is_short = count <= SHORT_INPUT;
    // Most of a longer input is text of its own, where a long search takes much time and saves little.
    in.depth = is_short || depth < 6 ? depth : depth / 3;
    in.good_match = is_short ? 24 : 8;
    in.longest_indexed = is_short ? 16 : 0;
    in.hash_bits = is_short ? SHORT_HASH_BITS : LARGEST_HASH_BITS;
    memset(in.last, 0xff, sizeof in.last[0] << in.hash_bits);
    token tokens[SMALL_DEFLATE_LARGEST_INPUT];
    symbol_counts counts = {{0}, {0}};
    size_t used = divide(&in, tokens, &counts);
    bit_writer out = {next, (uint8_t *)output + room - 4, 0, 0, false};
    write_block(&out, tokens, used, &counts);
    // The last bits, filled up to a byte.
    if (out.count > 0) put(&out, 0, 8 - out.count);
    flush(&out);
    if (out.is_full) return 0;
    next = write_big_endian(out.next, small_adler32(bytes, count));
    return (size_t)(next - (uint8_t *)output);
}
