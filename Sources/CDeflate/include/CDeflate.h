#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The most bytes that ``small_deflate`` takes.
enum { SMALL_DEFLATE_LARGEST_INPUT = 4096 };

/// The most bytes of a dictionary that are referred to, its last ones: distances in DEFLATE data reach 32,768 bytes
/// back, input included.
enum { SMALL_DEFLATE_LARGEST_DICTIONARY = 32768 - SMALL_DEFLATE_LARGEST_INPUT };

/// The strings of a preset dictionary, indexed once; any number of threads may use it at the same time.
typedef struct small_dictionary small_dictionary;

/// Copies and indexes a dictionary. Returns `NULL` if there is no memory.
small_dictionary *small_dictionary_make(const void *bytes, size_t count);

/// Gives back the memory of a dictionary, which nothing uses any longer.
void small_dictionary_free(small_dictionary *dictionary);

/// Deflates bytes to DEFLATE data (RFC 1951) without a zlib stream's header and trailer, which refers to the dictionary.
///
/// `count` is at most `SMALL_DEFLATE_LARGEST_INPUT`. `depth` is how many places with the same four bytes are looked at for
/// each string. Writes `room` bytes at most.
///
/// Returns how many bytes were written; 0 if the data does not fit.
size_t small_deflate(
    const small_dictionary *dictionary, const void *bytes, size_t count, int depth, void *output, size_t room);

/// The memory of ``deflate_whole`` besides input and output: indexes of strings, and a block's literals and matches,
/// 160 KiB in all. It may be used for one input after another.
typedef struct deflater deflater;

/// Returns `NULL` if there is no memory.
deflater *deflater_make(void);

/// Gives back the memory.
void deflater_free(deflater *deflater);

/// The most bytes that ``deflate_whole`` takes.
enum { DEFLATE_LARGEST_INPUT = INT32_MAX };

/// Deflates bytes to DEFLATE data (RFC 1951) without a zlib stream's header and trailer, about as far as zlib's level 1.
///
/// If it is not the last part of a stream, the data ends with an empty stored block, at the end of a byte, so that more
/// can follow. Writes `room` bytes at most.
///
/// Returns how many bytes were written; 0 if the data does not fit.
size_t deflate_whole(deflater *state, const void *bytes, size_t count, bool is_last, void *output, size_t room);

/// Inflates DEFLATE data (RFC 1951) without header and trailer; true if all of `bytes` is the data, and its content
/// fills the `expected` bytes of `output` exactly.
///
/// Any bytes may be given: nothing outside the three ranges is read or written. Takes and refuses the data that zlib
/// does. Matches may begin in the last 32,768 bytes of the dictionary, as if it came before the content.
bool inflate_whole(
    const void *dictionary, size_t dictionary_count, const void *bytes, size_t count, void *output, size_t expected);
