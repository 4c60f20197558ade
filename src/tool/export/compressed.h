/* compressed.h: compress output while it is written. */
#ifndef EXPORT_COMPRESSED_H
#define EXPORT_COMPRESSED_H

#include "util/err.h"
#include "util/strbuf.h"

enum compression { COMPRESSION_NONE = 0, COMPRESSION_GZIP, COMPRESSION_ZSTD };

struct compressed {
    enum compression compression;
    struct strbuf plain; // Input to compress next.
    struct strbuf *to;
    void *stream;    // The library's stream.
    const char *why; // The first failure, or NULL.
};

/* Return the compression for a file called PATH: ".gz" and ".zst" select one. */
enum compression compression_for_path(const char *path);

/* Return a buffer whose contents go to TO in compressed form; TO itself if COMPRESSION is none. */
struct strbuf *compressed_begin(struct compressed *c, enum compression compression,
                                struct strbuf *to);

/* Compress and write the remaining contents. Returns 0, or HEAPTAP_BUG with ERR set. */
int compressed_end(struct compressed *c, struct err *err);

#endif
