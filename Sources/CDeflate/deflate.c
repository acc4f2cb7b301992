// Deflates whole inputs, without a dictionary: each place is looked up once, by the hash of its first four bytes, and the
// match there is taken if it saves bits.
//
// In C, because the search works on words at any address.
#include <stdlib.h>

#include "CDeflate.h"
#include "block.h"
#include "input_strings.h"

enum {
    /// Of indexes of four and of three bytes.
    HASH_BITS = 14,
    SHORT_HASH_BITS = 13,
    /// So many are the index's for an input of up to 4 KiB, which then stays in the nearest cache.
    FEW_HASH_BITS = 12,
    FEW_BYTES = 4096,
    /// The most matches of a block.
    MOST_SEQUENCES = 8192,
    /// How far back matches reach.
    WINDOW = 32768,
    /// Matches of three and four bytes that begin farther back take about as many bits as their bytes.
    FARTHEST_OF_THREE = 256,
    FARTHEST_OF_FOUR = 2048,
    /// Whether bytes are text is seen by one of so many; one of so many may be none of text.
    SAMPLED = 16,
    TEXT_TO_OTHERS = 8
};

struct deflater {
    /// Where the next input begins, in a count of places that goes on from input to input: those of earlier inputs are too
    /// far back for a match, so the indexes need not be cleared.
    uint32_t next_start;
    /// The last place of each hash.
    uint32_t last[1 << HASH_BITS];
    uint32_t last_short[1 << SHORT_HASH_BITS];
    /// One more than matches, for the literals after them.
    sequence sequences[MOST_SEQUENCES + 1];
};

deflater *deflater_make(void) {
    deflater *state = calloc(1, sizeof *state);
    // An entry of 0 is farther back than a match reaches.
    if (state != NULL) state->next_start = WINDOW + 1;
    return state;
}

void deflater_free(deflater *state) { free(state); }

/// Where an input of so many bytes begins in the count of places.
static uint32_t take_start(deflater *state, size_t count) {
    uint32_t taken = (uint32_t)count + WINDOW;
    if (state->next_start > UINT32_MAX - taken) {
        memset(state->last, 0, sizeof state->last);
        memset(state->last_short, 0, sizeof state->last_short);
        state->next_start = WINDOW + 1;
    }
    uint32_t start = state->next_start;
    state->next_start += taken;
    return start;
}

/// An input while it is divided into blocks.
typedef struct {
    const uint8_t *bytes;
    size_t count;
    /// Where it begins in the count of places.
    uint32_t start;
    int hash_bits;
    /// Where the next block begins.
    size_t place;
} input;

typedef struct {
    unsigned length, distance;
} match;

static inline uint32_t hash(uint32_t string, int bits) { return hash_product(string) >> (32 - bits); }

/// How far back a string with the same hash is; the place is indexed then.
static inline size_t take_distance(uint32_t *last, uint32_t place) {
    size_t distance = place - *last;
    *last = place;
    return distance;
}

/// The match of a place, of up to `most` bytes, which saves bits; its length is 0 if there is none. At least four bytes are
/// left there.
///
/// Distances of up to `WINDOW` lead to a place of this input, since those of earlier inputs are farther back.
static inline __attribute__((always_inline)) match find(
    deflater *state, const input *in, size_t place, unsigned most, bool finds_short) {
    const uint8_t *here = in->bytes + place;
    uint32_t string = word(here), counted = in->start + (uint32_t)place;
    size_t distance = take_distance(&state->last[hash(string, in->hash_bits)], counted), near = WINDOW;
    if (finds_short) near = take_distance(&state->last_short[hash(first_three(string), SHORT_HASH_BITS)], counted);
    if (distance <= WINDOW && word(here - distance) == string) {
        unsigned length = equal_count(here, here - distance, most);
        if (length > 4 || distance <= FARTHEST_OF_FOUR) return (match){length, (unsigned)distance};
    }
    if (finds_short && near <= FARTHEST_OF_THREE && first_three(word(here - near)) == first_three(string)) {
        return (match){equal_count(here, here - near, most), (unsigned)near};
    }
    return (match){0, 0};
}

/// Divides the bytes of the next block into sequences.
static inline __attribute__((always_inline)) block divide(
    deflater *state, input *in, symbol_counts *counts, bool finds_short) {
    size_t start = in->place, place = start, literals = start;
    size_t end = in->count - start < LARGEST_BLOCK ? in->count : start + LARGEST_BLOCK;
    // No match begins in the last three bytes, so that there are four where one is looked for.
    size_t searched = end - start < 4 ? start : end - 3;
    size_t used = 0;
    while (place < searched && used < MOST_SEQUENCES) {
        unsigned most = end - place < LARGEST_MATCH ? (unsigned)(end - place) : LARGEST_MATCH;
        match found = find(state, in, place, most, finds_short);
        if (found.length == 0) {
            counts->literals[in->bytes[place++]]++;
            continue;
        }
        state->sequences[used++] = sequence_make(place - literals, found.length, found.distance, counts);
        literals = place + found.length;
        size_t indexed = literals < searched ? literals : searched;
        while (++place < indexed) {
            state->last[hash(word(in->bytes + place), in->hash_bits)] = in->start + (uint32_t)place;
        }
        place = literals;
    }
    if (used < MOST_SEQUENCES) {
        while (place < end) counts->literals[in->bytes[place++]]++;
    }
    if (place > literals) state->sequences[used++] = (sequence){(uint16_t)(place - literals), 0, 0, 0, 0};
    counts->literals[END_OF_BLOCK]++;
    in->place = place;
    return (block){in->bytes + start, place - start, state->sequences, used, counts};
}

/// Whether bytes look like numbers and references, in which many strings of three bytes come again close by, and not like
/// text, in which few do.
static bool is_binary(const uint8_t *bytes, size_t count) {
    size_t others = 0;
    for (size_t place = 0; place < count; place += SAMPLED) others += bytes[place] < 32 || bytes[place] > 127;
    return others * SAMPLED * TEXT_TO_OTHERS > count;
}

size_t deflate_whole(
    deflater *state, const void *bytes, size_t count, bool is_last, void *output, size_t room) {
    if (count > DEFLATE_LARGEST_INPUT || room == 0) return 0;
    input in = {bytes, count, take_start(state, count), count > FEW_BYTES ? HASH_BITS : FEW_HASH_BITS, 0};
    bit_writer out = {output, (uint8_t *)output + room, 0, 0, false};
    do {
        symbol_counts counts = {{0}, {0}};
        size_t left = count - in.place;
        // Inlined twice: in text, the search for matches of three bytes would take a tenth of the time.
        bool finds_short = is_binary(in.bytes + in.place, left < LARGEST_BLOCK ? left : LARGEST_BLOCK);
        block block = finds_short ? divide(state, &in, &counts, true) : divide(state, &in, &counts, false);
        block_write(&out, &block, is_last && in.place == count);
    } while (in.place < count && !out.is_full);
    if (!is_last) block_write_empty(&out);
    finish(&out);
    return out.is_full ? 0 : (size_t)(out.next - (uint8_t *)output);
}
