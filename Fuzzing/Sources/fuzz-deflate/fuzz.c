// Deflates inputs, with and without dictionaries; zlib and inflate_whole have to give the input back.
#include "CDeflate.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void require(bool condition, const char *rule) {
    if (condition) return;
    fprintf(stderr, "Fatal error: %s\n", rule);
    abort();
}

static void zlib_gives_back(
    const uint8_t *dictionary, size_t dictionary_count, uint8_t *data, size_t size, const uint8_t *bytes, size_t count) {
    uint8_t *output = malloc(count + 1);
    z_stream z = {.next_in = data, .avail_in = (uInt)size, .next_out = output, .avail_out = (uInt)count + 1};
    require(inflateInit2(&z, -15) == Z_OK, "zlib begins");
    if (dictionary_count > 0) {
        require(inflateSetDictionary(&z, dictionary, (uInt)dictionary_count) == Z_OK, "zlib takes the dictionary");
    }
    require(inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_in == 0, "zlib reads the data to its end");
    require(z.total_out == count && memcmp(output, bytes, count) == 0, "zlib gives the input back");
    inflateEnd(&z);
    free(output);
}

static void both_give_back(
    const uint8_t *dictionary, size_t dictionary_count, uint8_t *data, size_t size, const uint8_t *bytes, size_t count) {
    zlib_gives_back(dictionary, dictionary_count, data, size, bytes, count);
    uint8_t *output = malloc(count + (count == 0));
    bool is_whole = inflate_whole(dictionary, dictionary_count, data, size, output, count);
    require(is_whole && memcmp(output, bytes, count) == 0, "inflate_whole gives the input back");
    free(output);
}

static void try_with_dictionary(
    const uint8_t *strings, size_t dictionary_count, const uint8_t *bytes, size_t count, int depth) {
    small_dictionary *dictionary = small_dictionary_make(strings, dictionary_count);
    size_t room = count + 64;
    uint8_t *deflated = malloc(room);
    size_t written = small_deflate(dictionary, bytes, count, depth, deflated, room);
    require(written > 0 && written <= room, "64 bytes more than the input are room enough");
    both_give_back(strings, dictionary_count, deflated, written, bytes, count);

    // In ranges of exactly the size, so that the sanitizer sees each byte too many.
    uint8_t *exact = malloc(written);
    require(
        small_deflate(dictionary, bytes, count, depth, exact, written) == written && memcmp(exact, deflated, written) == 0,
        "the data fits into its own length");
    require(small_deflate(dictionary, bytes, count, depth, exact, written - 1) == 0, "one byte less is too little");
    free(exact);
    free(deflated);
    small_dictionary_free(dictionary);
}

static void try_alone(const uint8_t *bytes, size_t count, bool is_last) {
    // One for all inputs, as a store has it.
    static deflater *state;
    if (state == NULL) state = deflater_make();
    size_t room = count + count / 1000 + 64;
    uint8_t *deflated = malloc(room + 2);
    size_t written = deflate_whole(state, bytes, count, is_last, deflated, room);
    require(written > 0 && written <= room, "64 bytes more than the input are room enough");
    uint8_t *exact = malloc(written);
    require(
        deflate_whole(state, bytes, count, is_last, exact, written) == written && memcmp(exact, deflated, written) == 0,
        "the data fits into its own length");
    require(deflate_whole(state, bytes, count, is_last, exact, written - 1) == 0, "one byte less is too little");
    free(exact);
    if (!is_last) {
        // The end that a last part has that is empty.
        deflated[written++] = 3;
        deflated[written++] = 0;
    }
    both_give_back(NULL, 0, deflated, written, bytes, count);
    free(deflated);
}

// Two bytes for the dictionary's length, one for the depth, the dictionary, the input. Without a dictionary the depth says
// whether the input is the last part.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    size_t dictionary_count = (size_t)data[0] | (size_t)data[1] << 8;
    int depth = 1 + data[2];
    data += 3;
    size -= 3;
    if (dictionary_count > size) dictionary_count = size / 2;
    // A range of its own, so that the sanitizer sees each byte too many.
    size_t count = size - dictionary_count;
    uint8_t *bytes = malloc(count + (count == 0));
    memcpy(bytes, data + dictionary_count, count);
    if (dictionary_count == 0) {
        try_alone(bytes, count, depth & 1);
    } else {
        if (count > SMALL_DEFLATE_LARGEST_INPUT) count = SMALL_DEFLATE_LARGEST_INPUT;
        try_with_dictionary(data, dictionary_count, bytes, count, depth);
    }
    free(bytes);
    return 0;
}
