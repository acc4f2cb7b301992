// The parts of zlib that this package uses: the manual, https://zlib.net/manual.html.
#ifndef STUB_CZLIB_H
#define STUB_CZLIB_H
#include <stddef.h>
typedef unsigned char Bytef;
typedef unsigned int uInt;
typedef unsigned long uLong;
typedef void *voidpf;
typedef voidpf (*alloc_func)(voidpf opaque, uInt items, uInt size);
typedef void (*free_func)(voidpf opaque, voidpf address);
struct internal_state;
typedef struct z_stream_s {
    Bytef *next_in;
    uInt avail_in;
    uLong total_in;
    Bytef *next_out;
    uInt avail_out;
    uLong total_out;
    char *msg;
    struct internal_state *state;
    alloc_func zalloc;
    free_func zfree;
    voidpf opaque;
    int data_type;
    uLong adler;
    uLong reserved;
} z_stream;
typedef z_stream *z_streamp;
#define ZLIB_VERSION "1.2.12"
#define Z_NO_FLUSH 0
#define Z_SYNC_FLUSH 2
#define Z_FINISH 4
#define Z_OK 0
#define Z_STREAM_END 1
#define Z_NEED_DICT 2
#define Z_BUF_ERROR (-5)
#define Z_BEST_SPEED 1
#define Z_DEFAULT_STRATEGY 0
#define Z_DEFLATED 8
int deflateInit2_(z_streamp stream, int level, int method, int window_bits, int memory_level, int strategy,
                  const char *version, int stream_size);
int deflate(z_streamp stream, int flush);
int deflateEnd(z_streamp stream);
int deflateReset(z_streamp stream);
int deflateCopy(z_streamp destination, z_streamp source);
int deflateSetDictionary(z_streamp stream, const Bytef *dictionary, uInt length);
int inflateInit_(z_streamp stream, const char *version, int stream_size);
int inflateInit2_(z_streamp stream, int window_bits, const char *version, int stream_size);
int inflate(z_streamp stream, int flush);
int inflateEnd(z_streamp stream);
int inflateReset(z_streamp stream);
int inflateSetDictionary(z_streamp stream, const Bytef *dictionary, uInt length);
uLong crc32(uLong checksum, const Bytef *bytes, uInt length);
uLong crc32_z(uLong checksum, const Bytef *bytes, size_t length);
uLong adler32(uLong checksum, const Bytef *bytes, uInt length);
uLong adler32_z(uLong checksum, const Bytef *bytes, size_t length);
#endif
