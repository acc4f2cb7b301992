#include "dictionary.h"

#include <stdlib.h>
#include <string.h>

small_dictionary *small_dictionary_make(const void *bytes, size_t all) {
    size_t count = all < SMALL_DEFLATE_LARGEST_DICTIONARY ? all : SMALL_DEFLATE_LARGEST_DICTIONARY;
    // One allocation: the places need two bytes each, and follow a structure that is aligned for more.
    small_dictionary *dictionary = malloc(sizeof *dictionary + count * sizeof(uint16_t) + count + DICTIONARY_PADDING);
    if (dictionary == NULL) return NULL;
    dictionary->count = count;
    dictionary->before = (uint16_t *)(dictionary + 1);
    dictionary->bytes = (uint8_t *)(dictionary->before + count);
    if (count > 0) memcpy(dictionary->bytes, (const uint8_t *)bytes + (all - count), count);
    memset(dictionary->bytes + count, 0, DICTIONARY_PADDING);
    dictionary->identifier = small_adler32(bytes, all);
    memset(dictionary->last, 0xff, sizeof dictionary->last);
    for (size_t place = 0; place < count; place++) {
        dictionary->before[place] = NO_PLACE;
        if (count - place < 4) continue;
        uint32_t string;
        memcpy(&string, dictionary->bytes + place, 4);
        uint32_t hash = hash_product(string) >> (32 - DICTIONARY_HASH_BITS);
        dictionary->before[place] = dictionary->last[hash];
        dictionary->last[hash] = (uint16_t)place;
    }
    return dictionary;
}

void small_dictionary_free(small_dictionary *dictionary) { free(dictionary); }

uint32_t small_adler32(const uint8_t *bytes, size_t count) {
    uint32_t low = 1, high = 0;
    while (count > 0) {
        // As many bytes as can be added up before a sum could overflow.
        size_t part = count < 5552 ? count : 5552;
        count -= part;
        // By sixteen, in sixteen sums, which compilers turn into few instructions: of each place the bytes, and the sum of
        // these sums, which has each byte once for every sixteen that follow it.
        uint32_t sums[16] = {0}, before[16] = {0};
        high += low * (uint32_t)(part & ~(size_t)15);
        for (; part >= 16; part -= 16, bytes += 16) {
            for (unsigned at = 0; at < 16; at++) {
                before[at] += sums[at];
                sums[at] += bytes[at];
            }
        }
        for (unsigned at = 0; at < 16; at++) {
            high += 16 * before[at] + (16 - at) * sums[at];
            low += sums[at];
        }
        for (; part > 0; part--) {
            low += *bytes++;
            high += low;
        }
        low %= 65521;
        high %= 65521;
    }
    return high << 16 | low;
}
