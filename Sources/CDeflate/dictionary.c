#include "dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "input_strings.h"

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
    memset(dictionary->last, 0xff, sizeof dictionary->last);
    for (size_t place = 0; place < count; place++) {
        dictionary->before[place] = NO_PLACE;
        if (count - place < 4) continue;
        uint32_t hash = hash_product(word(dictionary->bytes + place)) >> (32 - DICTIONARY_HASH_BITS);
        dictionary->before[place] = dictionary->last[hash];
        dictionary->last[hash] = (uint16_t)place;
    }
    return dictionary;
}

void small_dictionary_free(small_dictionary *dictionary) { free(dictionary); }
