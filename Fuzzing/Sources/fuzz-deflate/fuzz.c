// Deflates inputs with dictionaries; zlib and small_inflate have to give the input back.
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
    const uint8_t *dictionary, size_t dictionary_count, uint8_t *stream, size_t size, const uint8_t *bytes,
    size_t count) {
    uint8_t *output = malloc(count + 1);
    z_stream z = {.next_in = stream, .avail_in = (uInt)size, .next_out = output, .avail_out = (uInt)count + 1};
    require(inflateInit(&z) == Z_OK, "zlib begins");
    int status = inflate(&z, Z_FINISH);
    if (status == Z_NEED_DICT) {
        require(
            inflateSetDictionary(&z, dictionary, (uInt)dictionary_count) == Z_OK, "the stream names its dictionary");
        status = inflate(&z, Z_FINISH);
    }
    require(status == Z_STREAM_END && z.avail_in == 0, "zlib reads the stream to its end");
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
    uint8_t *stream = malloc(room);
    size_t written = small_deflate(dictionary, bytes, count, depth, stream, room);
    require(written > 0 && written <= room, "64 bytes more than the input are room enough");
    zlib_gives_back(data, dictionary_count, stream, written, bytes, count);

    // Header, the dictionary's checksum if there is one, DEFLATE data, the content's checksum.
    size_t start = stream[1] & 0x20 ? 6 : 2;
    uint8_t *output = malloc(count + 1);
    bool is_whole = small_inflate(data, dictionary_count, stream + start, written - start - 4, output, count);
    require(is_whole && memcmp(output, bytes, count) == 0, "small_inflate gives the input back");

    // In ranges of exactly the size, so that the sanitizer sees each byte too many.
    uint8_t *exact = malloc(written);
    require(
        small_deflate(dictionary, bytes, count, depth, exact, written) == written && memcmp(exact, stream, written) == 0,
        "the stream fits into its own length");
    require(small_deflate(dictionary, bytes, count, depth, exact, written - 1) == 0, "one byte less is too little");
    free(exact);
    free(output);
    free(stream);
    small_dictionary_free(dictionary);
    return 0;
}
