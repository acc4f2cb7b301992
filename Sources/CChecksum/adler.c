// In C, because Swift has no instructions that sum bytes. zlib adds one byte at a time, which was a tenth of a small entry's
// way from a server to its value.
//
// Of bytes b[0] … b[n-1] after sums (s1, s2), s1 grows by their sum, and s2 by n * s1 + n * b[0] + (n-1) * b[1] + … + b[n-1].
#include "CChecksum.h"

enum {
    MODULUS = 65521,
    /// Bytes that are summed at once.
    BLOCK = 32,
    /// As many blocks as cannot exceed 32 bits before the remainder is taken, as zlib's `NMAX` says.
    MOST_BLOCKS = 5552 / BLOCK
};

#if defined(__SSE2__)

#include <emmintrin.h>

static inline __m128i load(const unsigned char *bytes) { return _mm_loadu_si128((const __m128i *)bytes); }

static inline uint32_t sum(__m128i lanes) {
    lanes = _mm_add_epi32(lanes, _mm_shuffle_epi32(lanes, _MM_SHUFFLE(1, 0, 3, 2)));
    lanes = _mm_add_epi32(lanes, _mm_shuffle_epi32(lanes, _MM_SHUFFLE(2, 3, 0, 1)));
    return (uint32_t)_mm_cvtsi128_si32(lanes);
}

/// Adds blocks to the sums, without taking remainders.
static void add(const unsigned char *bytes, size_t blocks, uint32_t *s1, uint32_t *s2) {
    const __m128i zero = _mm_setzero_si128();
    const __m128i weights[4] = {
        _mm_setr_epi16(32, 31, 30, 29, 28, 27, 26, 25), _mm_setr_epi16(24, 23, 22, 21, 20, 19, 18, 17),
        _mm_setr_epi16(16, 15, 14, 13, 12, 11, 10, 9), _mm_setr_epi16(8, 7, 6, 5, 4, 3, 2, 1)};
    __m128i sums = zero, weighted = zero, before = zero;
    for (size_t block = 0; block < blocks; block++, bytes += BLOCK) {
        __m128i first = load(bytes), second = load(bytes + 16);
        before = _mm_add_epi32(before, sums);
        sums = _mm_add_epi32(sums, _mm_add_epi32(_mm_sad_epu8(first, zero), _mm_sad_epu8(second, zero)));
        __m128i a = _mm_madd_epi16(_mm_unpacklo_epi8(first, zero), weights[0]);
        __m128i b = _mm_madd_epi16(_mm_unpackhi_epi8(first, zero), weights[1]);
        __m128i c = _mm_madd_epi16(_mm_unpacklo_epi8(second, zero), weights[2]);
        __m128i d = _mm_madd_epi16(_mm_unpackhi_epi8(second, zero), weights[3]);
        weighted = _mm_add_epi32(weighted, _mm_add_epi32(_mm_add_epi32(a, b), _mm_add_epi32(c, d)));
    }
    *s2 += (uint32_t)(blocks * BLOCK) * *s1 + BLOCK * sum(before) + sum(weighted);
    *s1 += sum(sums);
}

#else

// A plain loop, which the compiler turns into the processor's vector instructions.
static void add(const unsigned char *bytes, size_t blocks, uint32_t *s1, uint32_t *s2) {
    for (size_t block = 0; block < blocks; block++, bytes += BLOCK) {
        uint32_t sum = 0, weighted = 0;
        for (uint32_t place = 0; place < BLOCK; place++) {
            sum += bytes[place];
            weighted += (BLOCK - place) * bytes[place];
        }
        *s2 += BLOCK * *s1 + weighted;
        *s1 += sum;
    }
}

#endif

uint32_t adler32_summed(uint32_t checksum, const void *start, size_t count) {
    const unsigned char *bytes = start;
    uint32_t s1 = checksum & 0xffff, s2 = checksum >> 16;
    while (count >= BLOCK) {
        size_t blocks = count / BLOCK < MOST_BLOCKS ? count / BLOCK : MOST_BLOCKS;
        add(bytes, blocks, &s1, &s2);
        s1 %= MODULUS;
        s2 %= MODULUS;
        bytes += blocks * BLOCK;
        count -= blocks * BLOCK;
    }
    for (; count > 0; count--) {
        s1 += *bytes++;
        s2 += s1;
    }
    return (s2 % MODULUS) << 16 | s1 % MODULUS;
}
