// Inflates any bytes with inflate_whole and with zlib: both give the same verdict and the same content.
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

// Whether zlib finds that all of the data has exactly the expected content.
static bool zlib_inflates(
    const uint8_t *dictionary, size_t dictionary_count, const uint8_t *bytes, size_t count, uint8_t *output,
    size_t expected) {
    z_stream z = {
        .next_in = (Bytef *)bytes, .avail_in = (uInt)count, .next_out = output, .avail_out = (uInt)expected + 1};
    require(inflateInit2(&z, -MAX_WBITS) == Z_OK, "zlib begins");
    if (dictionary_count > 0) {
        require(inflateSetDictionary(&z, dictionary, (uInt)dictionary_count) == Z_OK, "zlib takes the dictionary");
    }
    int status = inflate(&z, Z_FINISH);
    bool is_right = status == Z_STREAM_END && z.avail_in == 0 && z.total_out == expected;
    inflateEnd(&z);
    return is_right;
}

// Two bytes for the content's length, one for the dictionary's, the dictionary, the data.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    size_t expected = (size_t)data[0] | (size_t)data[1] << 8;
    size_t dictionary_count = data[2];
    data += 3;
    size -= 3;
    if (dictionary_count > size) dictionary_count = size;

    // Ranges of their own, so that the sanitizer sees each byte too many.
    uint8_t *dictionary = malloc(dictionary_count + (dictionary_count == 0));
    memcpy(dictionary, data, dictionary_count);
    size_t count = size - dictionary_count;
    uint8_t *bytes = malloc(count + (count == 0));
    memcpy(bytes, data + dictionary_count, count);
    uint8_t *output = malloc(expected + (expected == 0));
    uint8_t *judged = malloc(expected + 1);

    bool is_whole = inflate_whole(dictionary, dictionary_count, bytes, count, output, expected);
    bool is_right = zlib_inflates(dictionary, dictionary_count, bytes, count, judged, expected);
    require(is_whole == is_right, "the verdict is zlib's");
    require(!is_right || memcmp(output, judged, expected) == 0, "the content is zlib's");
    free(judged);
    free(output);
    free(bytes);
    free(dictionary);
    return 0;
}
