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
    if (length <= best->length) return;
    int gain = 8 * (int)length - match_cost(length, distance);
    if (gain > best->gain) *best = (match){length, distance, gain};
}

/// The match of more than `least` bytes, and more than three, that saves most at a place; none has a gain of 0. The
/// place is indexed then.
///
/// A place is looked at closely if four bytes are the same, the last of which would make a match there longer than the
/// best one so far.
static inline __attribute__((always_inline)) match find(
    input *in, const small_dictionary *dictionary, size_t place, unsigned last_distance, unsigned least) {
    match best = {least < SHORTEST_MATCH ? SHORTEST_MATCH - 1 : least, 0, 0};
    size_t left = in->count - place;
    if (left < SHORTEST_MATCH) return best;
    const uint8_t *here = in->bytes + place;
    uint32_t product = hash_product(word(here));
    uint16_t *slot = &in->last[product >> (32 - in->hash_bits)];
    unsigned at = *slot;
    in->before[place] = (uint16_t)at;
    *slot = (uint16_t)place;
    if (left <= best.length) return best;
    unsigned most = left < LARGEST_MATCH ? (unsigned)left : LARGEST_MATCH;
    uint32_t sought = word(here + best.length - 3);
    // The former match often goes on behind a byte that differs.
    if (last_distance != 0) {
        // It began before this place, so its distance leads into the input or the dictionary from here, too.
        unsigned limit = most;
        const uint8_t *there;
        if (last_distance <= place) {
            there = here - last_distance;
        } else {
            size_t back = last_distance - place;
            there = dictionary->bytes + dictionary->count - back;
            // Matches end with the dictionary, since the input does not stand behind it.
            if (back < limit) limit = (unsigned)back;
        }
        if (word(there + best.length - 3) == sought) {
            consider(&best, equal_count(here, there, limit), last_distance);
            if (best.length == most) return best;
            sought = word(here + best.length - 3);
        }
    }
    // `best.length` is less than `most`, so each word that is compared lies within the input.
    for (int tries = in->depth; at != NO_PLACE && tries > 0; tries--, at = in->before[at]) {
        if (word(in->bytes + at + best.length - 3) != sought) continue;
        consider(&best, equal_count(here, in->bytes + at, most), (unsigned)(place - at));
        if (best.length == most) return best;
        sought = word(here + best.length - 3);
    }
    if (dictionary == NULL) return best;
    at = dictionary->last[product >> (32 - DICTIONARY_HASH_BITS)];
    for (int tries = in->depth; at != NO_PLACE && tries > 0; tries--, at = dictionary->before[at]) {
        // Behind the dictionary's bytes there is room for the longest match.
        if (word(dictionary->bytes + at + best.length - 3) != sought) continue;
        unsigned limit = (unsigned)(dictionary->count - at);
        if (limit > most) limit = most;
        consider(&best, equal_count(here, dictionary->bytes + at, limit), (unsigned)(place + dictionary->count - at));
        if (best.length == most) return best;
        sought = word(here + best.length - 3);
    }
    return best;
}

static inline void pass(input *in, size_t place) {
    if (in->count - place < 4) return;
    uint32_t hash = hash_product(word(in->bytes + place)) >> (32 - in->hash_bits);
    in->before[place] = in->last[hash];
    in->last[hash] = (uint16_t)place;
}

/// Divides the input into literals and matches; returns how many there are, one for each byte at most.
static inline __attribute__((always_inline)) size_t divide(
    input *in, const small_dictionary *dictionary, token *tokens, symbol_counts *counts) {
    size_t used = 0, place = 0;
    unsigned last_distance = 0;
    while (place < in->count) {
        match found = find(in, dictionary, place, last_distance, 0);
        // How many places of the match are indexed.
        size_t indexed = 1;
        while (found.gain > 0 && found.length < in->good_match && place + 1 < in->count) {
            // A match that begins one byte later may save more than this one.
            match next = find(in, dictionary, place + 1, last_distance, found.length + 1);
            if (next.gain <= 0) {
                indexed = 2;
                break;
            }
            counts->literals[in->bytes[place]]++;
            tokens[used++] = (token){0, in->bytes[place++], 0, 0};
            found = next;
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
            for (place += indexed; place < end; place++) pass(in, place);
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

/// 64 bits at most are held, and fewer than 8 after a flush; a match takes up to 48.
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
            // With up to 31 bits there is room for another literal, or for a match after a flush.
            if (copy.count < 32) continue;
        } else {
            if (copy.count >= 16) flush(&copy);
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

/// The bits that follow the codes of lengths and distances.
static size_t extra_bits(const symbol_counts *counts) {
    uint32_t bits = 0;
    for (unsigned place = 0; place < 29; place++) bits += (uint32_t)counts->literals[257 + place] * length_bits[place];
    for (unsigned symbol = 0; symbol < DISTANCE_SYMBOLS; symbol++) {
        bits += (uint32_t)counts->distances[symbol] * distance_bits[symbol];
    }
    return bits;
}

/// Finds the codes for these counts; returns how many bits the whole block takes.
static size_t make_codes(block_codes *codes, const symbol_counts *counts) {
    code_make(&codes->literals, counts->literals, LITERAL_SYMBOLS, 15);
    code_make(&codes->distances, counts->distances, DISTANCE_SYMBOLS, 15);
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
    uint16_t numbers[19] = {0};
    codes->run_count = 0;
    for (size_t start = 0; start < total;) {
        unsigned length = lengths[start];
        size_t run = 1;
        // Most are zero: eight at a time.
        if (length == 0) {
            for (uint64_t eight; start + run + 8 <= total; run += 8) {
                memcpy(&eight, lengths + start + run, 8);
                if (eight != 0) break;
            }
        }
        while (start + run < total && lengths[start + run] == length) run++;
        start += run;
        if (length != 0) {
            // The length itself comes first, then how often it comes again.
            codes->runs[codes->run_count++] = (uint16_t)length;
            numbers[length]++;
            run--;
        }
        while (run >= 3) {
            size_t most = length != 0 ? 6 : 138;
            size_t part = run < most ? run : most;
            unsigned symbol = length != 0 ? 16 : part < 11 ? 17 : 18;
            unsigned rest = (unsigned)part - (symbol == 18 ? 11 : 3);
            codes->runs[codes->run_count++] = (uint16_t)(rest << 8 | symbol);
            numbers[symbol]++;
            run -= part;
        }
        for (; run > 0; run--) {
            codes->runs[codes->run_count++] = (uint16_t)length;
            numbers[length]++;
        }
    }
    code_make(&codes->header, numbers, 19, 7);
    codes->header_count = 19;
    while (codes->header_count > 4 && codes->header.lengths[code_header_order[codes->header_count - 1]] == 0) {
        codes->header_count--;
    }
    size_t bits = 3 + 14 + 3 * codes->header_count;
    for (unsigned symbol = 0; symbol < 19; symbol++) {
        bits += (size_t)numbers[symbol] * (codes->header.lengths[symbol] + header_bits[symbol]);
    }
    uint32_t sum = 0;
    for (unsigned symbol = 0; symbol < LITERAL_SYMBOLS; symbol++) {
        sum += (uint32_t)counts->literals[symbol] * codes->literals.lengths[symbol];
    }
    for (unsigned symbol = 0; symbol < DISTANCE_SYMBOLS; symbol++) {
        sum += (uint32_t)counts->distances[symbol] * codes->distances.lengths[symbol];
    }
    return bits + sum + extra_bits(counts);
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

// MARK: - A block

/// How many bits a block with fixed codes takes.
static size_t fixed_block_bits(const symbol_counts *counts) {
    // The lengths of RFC 1951 § 3.2.6. No sum overflows: an input has 4 KiB.
    uint16_t sevens = 0, eights = 0, nines = 0;
    for (unsigned symbol = 0; symbol < 144; symbol++) eights += counts->literals[symbol];
    for (unsigned symbol = 144; symbol < 256; symbol++) nines += counts->literals[symbol];
    for (unsigned symbol = 256; symbol < 280; symbol++) sevens += counts->literals[symbol];
    for (unsigned symbol = 280; symbol < LITERAL_SYMBOLS; symbol++) eights += counts->literals[symbol];
    size_t bits = 3 + 7u * sevens + 8u * eights + 9u * nines + extra_bits(counts);
    for (unsigned symbol = 0; symbol < DISTANCE_SYMBOLS; symbol++) bits += 5u * counts->distances[symbol];
    return bits;
}

/// The binary logarithm of a number that is not 0, in 1/256. The line between powers of two is at most 22 too low.
static inline uint32_t logarithm(uint32_t number) {
    unsigned bits = 31 - (unsigned)__builtin_clz(number);
    return bits << 8 | (((number << 8) >> bits) & 0xff);
}

/// The entropy of symbols that come so often, in bits. The number of those that come is added to `used`.
static uint32_t entropy(const uint16_t *counts, size_t count, unsigned *used) {
    // No sum overflows: an input has 4 KiB.
    uint32_t total = 0, sum = 0;
    for (size_t symbol = 0; symbol < count; symbol++) {
        uint32_t number = counts[symbol];
        if (number == 0) continue;
        total += number;
        sum += number * logarithm(number);
        ++*used;
    }
    return total == 0 ? 0 : (total * logarithm(total) - sum) >> 8;
}

/// How many bits a block with codes of its own takes, about: the entropy, and a description of the codes that grows with
/// their number. Over archives of 100 bytes to 4 KiB, this was right to 33 bits (the root of the mean square).
static size_t own_block_bits(const symbol_counts *counts) {
    unsigned used = 0;
    size_t bits = entropy(counts->literals, LITERAL_SYMBOLS, &used);
    bits += entropy(counts->distances, DISTANCE_SYMBOLS, &used);
    return bits + extra_bits(counts) + 150 + 15 * used / 4;
}

/// Codes of a block's own are made only where they save one byte of so many: making them more than doubles the time of
/// a deflate, and reading them that of an inflate. In a block of fewer bits they never do.
enum { LEAST_SAVING = 16, LEAST_OWN_CODES = 1200 };

static void write_block(bit_writer *out, const token *tokens, size_t count, const symbol_counts *counts) {
    size_t fixed_bits = fixed_block_bits(counts);
    block_codes codes;
    if (fixed_bits >= LEAST_OWN_CODES && own_block_bits(counts) < fixed_bits - fixed_bits / LEAST_SAVING) {
        if (make_codes(&codes, counts) < fixed_bits) {
            put(out, 1 | 2 << 1, 3);
            write_codes(out, &codes);
            return write_tokens(out, tokens, count, &codes.literals, &codes.distances);
        }
    }
    put(out, 1 | 1 << 1, 3);
    write_tokens(out, tokens, count, code_fixed(), code_fixed_distances());
}

size_t small_deflate(
    const small_dictionary *dictionary, const void *bytes, size_t count, int depth, void *output, size_t room) {
    if (count > SMALL_DEFLATE_LARGEST_INPUT || room == 0) return 0;
    input in;
    in.bytes = bytes;
    in.count = count;
    bool is_short = count <= SHORT_INPUT;
    // Most of a longer input is text of its own, where a long search takes much time and saves little.
    in.depth = is_short || depth < 6 ? depth : depth / 2;
    in.good_match = is_short ? 24 : 5;
    in.longest_indexed = is_short ? 16 : 0;
    in.hash_bits = is_short ? SHORT_HASH_BITS : LARGEST_HASH_BITS;
    memset(in.last, 0xff, sizeof in.last[0] << in.hash_bits);
    token tokens[SMALL_DEFLATE_LARGEST_INPUT];
    symbol_counts counts = {{0}, {0}};
    // Inlined twice: without a dictionary, half of the search is left out.
    size_t used = dictionary == NULL ? divide(&in, NULL, tokens, &counts) : divide(&in, dictionary, tokens, &counts);
    bit_writer out = {output, (uint8_t *)output + room, 0, 0, false};
    write_block(&out, tokens, used, &counts);
    // The last bits, filled up to a byte.
    if (out.count > 0) put(&out, 0, 8 - out.count);
    flush(&out);
    return out.is_full ? 0 : (size_t)(out.next - (uint8_t *)output);
}
