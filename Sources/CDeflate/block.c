// In C, as the search is: words go to any address.
#include "block.h"

static inline void put_code(bit_writer *out, uint32_t code) { put(out, code & 0xffff, code >> 16); }

static void write_symbols(
    bit_writer *out, const block *block, const prefix_code *literals, const prefix_code *distances) {
    // A copy, which no store to the output can change.
    bit_writer copy = *out;
    const uint8_t *byte = block->bytes;
    for (size_t index = 0; index < block->sequence_count && !copy.is_full; index++) {
        sequence next = block->sequences[index];
        // Of 64 bits, up to 7 are left from before, and three literals take up to 45.
        unsigned left = next.literals;
        for (; left >= 3; left -= 3, byte += 3) {
            put_code(&copy, literals->codes[byte[0]]);
            put_code(&copy, literals->codes[byte[1]]);
            put_code(&copy, literals->codes[byte[2]]);
            flush(&copy);
        }
        for (; left > 0; left--) put_code(&copy, literals->codes[*byte++]);
        if (next.length == 0) continue;
        // A match takes up to 48.
        if (copy.count >= 16) flush(&copy);
        unsigned place = next.place, symbol = next.symbol;
        put_code(&copy, literals->codes[257 + place]);
        put(&copy, next.length - length_base[place], length_bits[place]);
        put_code(&copy, distances->codes[symbol]);
        put(&copy, next.distance - distance_base[symbol], distance_bits[symbol]);
        flush(&copy);
        byte += next.length;
    }
    flush(&copy);
    put_code(&copy, literals->codes[END_OF_BLOCK]);
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
    /// Symbols of the header, each with the bits after it in the upper byte.
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
        put_code(out, codes->header.codes[symbol]);
        put(out, codes->runs[index] >> 8, header_bits[symbol]);
        flush(out);
    }
}

// MARK: - A block

/// How many bits a block with fixed codes takes.
static size_t fixed_block_bits(const symbol_counts *counts) {
    // The lengths of RFC 1951 § 3.2.6. No sum overflows: a block has less than 2^16 symbols.
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
    // No sum overflows: a block has less than 2^16 symbols, so a sum is at most 2^16 times 16 · 2^8.
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

/// Writes a block as it is (RFC 1951 § 3.2.4), after its first three bits.
static void write_stored(bit_writer *out, const uint8_t *bytes, size_t count) {
    finish(out);
    put(out, count | (~count & 0xffff) << 16, 32);
    flush(out);
    if (out->is_full || (size_t)(out->end - out->next) < count) {
        out->is_full = true;
        return;
    }
    if (count > 0) memcpy(out->next, bytes, count);
    out->next += count;
}

void block_write_empty(bit_writer *out) {
    put(out, 0, 3);
    write_stored(out, NULL, 0);
}

void block_write(bit_writer *out, const block *block, bool is_last) {
    const symbol_counts *counts = block->counts;
    size_t bits = fixed_block_bits(counts);
    block_codes codes;
    bool has_codes = false;
    if (bits >= LEAST_OWN_CODES && own_block_bits(counts) < bits - bits / LEAST_SAVING) {
        size_t own_bits = make_codes(&codes, counts);
        has_codes = own_bits < bits;
        if (has_codes) bits = own_bits;
    }
    // With the three bits before, the rest of a byte, and twice its length.
    bool is_stored = 3 + 7 + 32 + 8 * block->count < bits;
    put(out, (is_last ? 1 : 0) | (is_stored ? 0 : has_codes ? 2 : 1) << 1, 3);
    if (is_stored) {
        write_stored(out, block->bytes, block->count);
    } else if (has_codes) {
        write_codes(out, &codes);
        write_symbols(out, block, &codes.literals, &codes.distances);
    } else {
        write_symbols(out, block, code_fixed(), code_fixed_distances());
    }
}
