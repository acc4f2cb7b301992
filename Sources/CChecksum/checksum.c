// In C, because Swift has no carry-less multiplication.
//
// "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", V. Gopal and others, Intel, 2009; the
// constants are those that it gives for this polynomial, bits reversed.
#include "CChecksum.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

bool crc32_can_fold(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_PCLMUL) && (c & bit_SSE4_1);
}

#define FOLDING __attribute__((target("pclmul,sse4.1")))

FOLDING static inline __m128i load(const unsigned char *bytes) { return _mm_loadu_si128((const __m128i *)bytes); }

/// The remainder of 16 bytes, moved some bytes on and combined with the bytes there.
FOLDING static inline __m128i fold(__m128i remainder, __m128i constants, __m128i next) {
    __m128i low = _mm_clmulepi64_si128(remainder, constants, 0x00);
    __m128i high = _mm_clmulepi64_si128(remainder, constants, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

FOLDING uint32_t crc32_folded(uint32_t checksum, const void *start, size_t count) {
    const __m128i by_64 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    const __m128i by_16 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    const __m128i by_8 = _mm_set_epi64x(0, 0x163cd6124);
    const __m128i polynomial = _mm_set_epi64x(0x1f7011641, 0x1db710641);
    const __m128i words = _mm_setr_epi32(~0, 0, ~0, 0);

    const unsigned char *bytes = start;
    __m128i a = _mm_xor_si128(load(bytes), _mm_cvtsi32_si128((int)~checksum));
    __m128i b = load(bytes + 16), c = load(bytes + 32), d = load(bytes + 48);
    for (bytes += 64, count -= 64; count >= 64; bytes += 64, count -= 64) {
        a = fold(a, by_64, load(bytes));
        b = fold(b, by_64, load(bytes + 16));
        c = fold(c, by_64, load(bytes + 32));
        d = fold(d, by_64, load(bytes + 48));
    }
    a = fold(fold(fold(a, by_16, b), by_16, c), by_16, d);
    for (; count >= 16; bytes += 16, count -= 16) a = fold(a, by_16, load(bytes));

    // From 16 bytes to 8, to 4, then Barrett's reduction.
    a = _mm_xor_si128(_mm_srli_si128(a, 8), _mm_clmulepi64_si128(a, by_16, 0x10));
    a = _mm_xor_si128(_mm_srli_si128(a, 4), _mm_clmulepi64_si128(_mm_and_si128(a, words), by_8, 0x00));
    __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(a, words), polynomial, 0x10);
    a = _mm_xor_si128(a, _mm_clmulepi64_si128(_mm_and_si128(quotient, words), polynomial, 0x00));
    return ~(uint32_t)_mm_extract_epi32(a, 1);
}

#else

// zlib uses the processor's own instruction on ARM where it was built for it.
bool crc32_can_fold(void) { return false; }

uint32_t crc32_folded(uint32_t checksum, const void *bytes, size_t count) {
    (void)bytes;
    (void)count;
    return checksum;
}

#endif
