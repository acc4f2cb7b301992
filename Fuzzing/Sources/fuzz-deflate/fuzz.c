// Deflates inputs with dictionaries; zlib and inflate_whole have to give the input back.
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

// Two bytes for the dictionary's length, one for the depth, the dictionary, the input.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    size_t dictionary_count = (size_t)data[0] | (size_t)data[1] << 8;
    int depth = 1 + data[2];
    data += 3;
    size -= 3;
    if (dictionary_count > size) dictionary_count = size / 2;
    const uint8_t *bytes = data + dictionary_count;
    size_t count = size - dictionary_count;
    if (count > SMALL_DEFLATE_LARGEST_INPUT) count = SMALL_DEFLATE_LARGEST_INPUT;

    small_dictionary *dictionary = dictionary_count > 0 ? small_dictionary_make(data, dictionary_count) : NULL;
    size_t room = count + 64;
    uint8_t *deflated = malloc(room);
    size_t written = small_deflate(dictionary, bytes, count, depth, deflated, room);
    require(written > 0 && written <= room, "64 bytes more than the input are room enough");
    zlib_gives_back(data, dictionary_count, deflated, written, bytes, count);

    uint8_t *output = malloc(count + 1);
    bool is_whole = inflate_whole(data, dictionary_count, deflated, written, output, count);
    require(is_whole && memcmp(output, bytes, count) == 0, "inflate_whole gives the input back");

    // In ranges of exactly the size, so that the sanitizer sees each byte too many.
    uint8_t *exact = malloc(written);
    require(
        small_deflate(dictionary, bytes, count, depth, exact, written) == written && memcmp(exact, deflated, written) == 0,
        "the data fits into its own length");
    require(small_deflate(dictionary, bytes, count, depth, exact, written - 1) == 0, "one byte less is too little");
    free(exact);
    free(output);
    free(deflated);
    small_dictionary_free(dictionary);
    return 0;
}
