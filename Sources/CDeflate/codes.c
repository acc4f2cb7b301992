#include "codes.h"

#include <string.h>

/// Gives symbols, in ascending order, the bits that follow from their lengths, none of which is 0.
static void assign(prefix_code *code, const uint16_t *symbols, size_t count) {
    unsigned numbers[16] = {0}, next[16];
    for (size_t index = 0; index < count; index++) numbers[code->lengths[symbols[index]]]++;
    unsigned value = 0;
    for (unsigned bits = 1; bits < 16; bits++) next[bits] = value = (value + numbers[bits - 1]) << 1;
    for (size_t index = 0; index < count; index++) {
        unsigned bits = code->lengths[symbols[index]];
        code->codes[symbols[index]] = bits << 16 | code_reversed(next[bits]++, bits);
    }
}

/// Counts below this are sorted by counting.
enum { FEW = 32 };

// Moffat and Katajainen, "In-Place Calculation of Minimum-Redundancy Codes", 1995, over counts in ascending order; then
// codes that are too long are shortened at the cost of the next shorter ones.
void code_make(prefix_code *code, const uint16_t *counts, size_t count, unsigned longest) {
    // Count and symbol in one number, in ascending order. Most counts are small: those are sorted by counting.
    uint32_t sorted[288];
    uint32_t weights[288];
    uint16_t symbols[288];
    uint16_t starts[FEW + 1] = {0};
    memset(code->lengths, 0, count);
    size_t used = 0;
    for (size_t symbol = 0; symbol < count; symbol++) {
        symbols[used] = (uint16_t)symbol;
        used += counts[symbol] != 0;
    }
    size_t few = 0;
    for (size_t place = 0; place < used; place++) {
        unsigned number = counts[symbols[place]];
        if (number < FEW) {
            starts[number + 1]++;
            few++;
        }
    }
    // After all of the few stand the others, by insertion.
    for (size_t number = 1; number <= FEW; number++) starts[number] += starts[number - 1];
    size_t next_many = few;
    for (size_t index = 0; index < used; index++) {
        unsigned number = counts[symbols[index]];
        uint32_t entry = (uint32_t)number << 9 | symbols[index];
        if (number < FEW) {
            sorted[starts[number]++] = entry;
            continue;
        }
        size_t place = next_many++;
        for (; place > few && sorted[place - 1] > entry; place--) sorted[place] = sorted[place - 1];
        sorted[place] = entry;
    }
    if (used <= 2) {
        // A code of one symbol has a bit, too.
        for (size_t place = 0; place < used; place++) code->lengths[sorted[place] & 511] = 1;
        assign(code, symbols, used);
        return;
    }
    for (size_t place = 0; place < used; place++) weights[place] = sorted[place] >> 9;

    // First the parents of the inner nodes, then the nodes' depths, then the leaves' depths.
    size_t leaf = 2, root = 0;
    weights[0] += weights[1];
    for (size_t next = 1; next < used - 1; next++) {
        if (leaf >= used || weights[root] < weights[leaf]) {
            weights[next] = weights[root];
            weights[root++] = (uint32_t)next;
        } else {
            weights[next] = weights[leaf++];
        }
        if (leaf >= used || (root < next && weights[root] < weights[leaf])) {
            weights[next] += weights[root];
            weights[root++] = (uint32_t)next;
        } else {
            weights[next] += weights[leaf++];
        }
    }
    weights[used - 2] = 0;
    for (size_t next = used - 2; next-- > 0;) weights[next] = weights[weights[next]] + 1;
    unsigned numbers[64] = {0};
    size_t available = 1, inner = 0;
    uint32_t depth = 0;
    size_t node = used - 1;
    for (size_t left = used; left > 0;) {
        while (node > 0 && weights[node - 1] == depth) {
            inner++;
            node--;
        }
        while (available > inner) {
            numbers[depth < longest ? depth : longest]++;
            left--;
            available--;
        }
        available = 2 * inner;
        inner = 0;
        depth++;
    }

    // Codes that were cut to `longest` take more than there is, in units of the longest code.
    uint32_t total = 0;
    for (unsigned bits = 1; bits <= longest; bits++) total += (uint32_t)numbers[bits] << (longest - bits);
    while (total > (uint32_t)1 << longest) {
        // One of the longest moves up beside a shorter one that becomes longer by a bit.
        unsigned bits = longest - 1;
        while (numbers[bits] == 0) bits--;
        numbers[bits]--;
        numbers[bits + 1] += 2;
        numbers[longest]--;
        total--;
    }
    // The rarest symbols have the longest codes.
    size_t place = 0;
    for (unsigned bits = longest; bits > 0; bits--) {
        for (unsigned left = numbers[bits]; left > 0; left--) code->lengths[sorted[place++] & 511] = (uint8_t)bits;
    }
    assign(code, symbols, used);
}

static prefix_code fixed, fixed_distances;

// Before anything can call the functions that need them, so no thread sees them incomplete.
__attribute__((constructor)) static void make_fixed(void) {
    uint16_t symbols[288];
    for (unsigned symbol = 0; symbol < 288; symbol++) {
        symbols[symbol] = (uint16_t)symbol;
        fixed.lengths[symbol] = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
    }
    assign(&fixed, symbols, 288);
    memset(fixed_distances.lengths, 5, DISTANCE_SYMBOLS);
    assign(&fixed_distances, symbols, DISTANCE_SYMBOLS);
}

const prefix_code *code_fixed(void) { return &fixed; }

const prefix_code *code_fixed_distances(void) { return &fixed_distances; }
