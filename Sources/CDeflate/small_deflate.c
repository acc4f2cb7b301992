// In C, because the inner loops work on words at any address.
//
// The strings of a dictionary are indexed once and never copied, unlike zlib's, which begins each stream with a copy of
// its state: for an archive of 400 bytes that copy takes longer than finding its strings.
#include <string.h>

#include "block.h"
#include "dictionary.h"
#include "input_strings.h"

enum { LARGEST_HASH_BITS = 12, SHORTEST_MATCH = 4 };

/// Up to so many bytes an input is searched as long as the caller says, and with the smallest index.
enum { SHORT_INPUT = 640, SHORT_HASH_BITS = 10 };

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
    // The former match often goes on after a byte that differs.
    if (last_distance != 0) {
        // It began before this place, so its distance leads into the input or the dictionary from here, too.
        unsigned limit = most;
        const uint8_t *there;
        if (last_distance <= place) {
            there = here - last_distance;
        } else {
            size_t back = last_distance - place;
            there = dictionary->bytes + dictionary->count - back;
            // Matches end with the dictionary, since the input does not stand after it.
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
    at = dictionary->last[product >> (32 - DICTIONARY_HASH_BITS)];
    for (int tries = in->depth; at != NO_PLACE && tries > 0; tries--, at = dictionary->before[at]) {
        // After the dictionary's bytes there is room for the longest match.
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

/// Divides the input into sequences; returns how many there are.
static inline __attribute__((always_inline)) size_t divide(
    input *in, const small_dictionary *dictionary, sequence *sequences, symbol_counts *counts) {
    size_t used = 0, place = 0, start = 0;
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
            counts->literals[in->bytes[place++]]++;
            found = next;
        }
        if (found.gain <= 0) {
            counts->literals[in->bytes[place++]]++;
            continue;
        }
        sequences[used++] = sequence_make(place - start, found.length, found.distance, counts);
        last_distance = found.distance;
        size_t end = place + found.length;
        if (found.length <= in->longest_indexed) {
            for (place += indexed; place < end; place++) pass(in, place);
        }
        start = place = end;
    }
    if (place > start) sequences[used++] = (sequence){(uint16_t)(place - start), 0, 0, 0, 0};
    counts->literals[END_OF_BLOCK]++;
    return used;
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
    sequence sequences[SMALL_DEFLATE_LARGEST_INPUT / SHORTEST_MATCH + 1];
    symbol_counts counts = {{0}, {0}};
    size_t used = divide(&in, dictionary, sequences, &counts);
    bit_writer out = {output, (uint8_t *)output + room, 0, 0, false};
    block block = {bytes, count, sequences, used, &counts};
    block_write(&out, &block, true);
    finish(&out);
    return out.is_full ? 0 : (size_t)(out.next - (uint8_t *)output);
}
