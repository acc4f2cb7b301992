#pragma once
#include <stdint.h>
#include <string.h>

// Strings of an input: their hashes, and how long they are equal.

static inline uint32_t word(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/// The highest bits are the hash of a string, in as many bits as an index has.
static inline uint32_t hash_product(uint32_t string) { return string * 2654435761u; }

/// The first three bytes of a string of four, and a zero for the other one.
static inline uint32_t first_three(uint32_t string) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return string << 8;
#else
    return string & ~0xffu;
#endif
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
