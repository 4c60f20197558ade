/* compressed.c: compress an output while it is written.
 *
 * The writer gets a buffer whose drain compresses its contents and appends them to the real output,
 * which may have a drain as well. Headers contain no time, so equal profiles give equal bytes. */
#include "export/exporter.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "util/arena.h"

enum { GZIP_WINDOW = 15 + 16, GZIP_MEMORY = 8, CHUNK_BYTES = 1 << 16, BLOCK_BYTES = 1 << 30 };

enum compression
compression_for_path(const char *path)
{
    const char *end = strrchr(path, '.');

    if (end != NULL && strcmp(end, ".gz") == 0)
        return COMPRESSION_GZIP;
    return end != NULL && strcmp(end, ".zst") == 0 ? COMPRESSION_ZSTD : COMPRESSION_NONE;
}

static void
deflate_bytes(struct compressed *c, const char *text, size_t length, bool last)
{
    z_stream *z = c->stream;
    unsigned char chunk[CHUNK_BYTES];
    int rc;

    z->next_in = (unsigned char *)text;
    z->avail_in = (uInt)length;
    do {
        z->next_out = chunk;
        z->avail_out = sizeof chunk;
        rc = deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
        strbuf_add(c->to, chunk, sizeof chunk - z->avail_out);
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
            c->why = z->msg ? z->msg : "no reason given";
    } while (c->why == NULL && z->avail_out == 0);
}

static void
zstd_bytes(struct compressed *c, const char *text, size_t length, bool last)
{
    ZSTD_inBuffer in = {text, length, 0};
    char chunk[CHUNK_BYTES];
    size_t left;

    do {
        ZSTD_outBuffer out = {chunk, sizeof chunk, 0};

        left = ZSTD_compressStream2(c->stream, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        strbuf_add(c->to, chunk, out.pos);
        if (ZSTD_isError(left))
            c->why = ZSTD_getErrorName(left);
    } while (c->why == NULL && (last ? left != 0 : in.pos < in.size));
}

/* Compress the contents of C->plain. If LAST, end the stream. */
static void
compress_plain(struct compressed *c, bool last)
{
    const char *text = strbuf_text(&c->plain);
    size_t left = c->plain.length;

    while (c->why == NULL && (left > 0 || last)) {
        size_t length = left < BLOCK_BYTES ? left : BLOCK_BYTES;
        bool ends = last && length == left;

        if (c->compression == COMPRESSION_GZIP)
            deflate_bytes(c, text, length, ends);
        else
            zstd_bytes(c, text, length, ends);
        text += length;
        left -= length;
        if (ends)
            break;
    }
    strbuf_pause(c->to);
}

static void
compressed_drain(struct strbuf *b)
{
    compress_plain(b->drain_arg, false);
    strbuf_clear(b);
}

struct strbuf *
compressed_begin(struct compressed *c, enum compression compression, struct strbuf *to)
{
    z_stream *z;

    *c = (struct compressed){.compression = compression, .to = to};
    if (compression == COMPRESSION_NONE)
        return to;
    c->plain = (struct strbuf){.drain = compressed_drain, .drain_arg = c};
    if (compression == COMPRESSION_ZSTD) {
        c->stream = ZSTD_createCCtx();
        c->why = c->stream == NULL ? "out of memory" : NULL;
        return &c->plain;
    }
    c->stream = z = xmalloc(sizeof *z);
    *z = (z_stream){0};
    if (deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        c->why = z->msg ? z->msg : "no reason given";
    return &c->plain;
}

int
compressed_end(struct compressed *c, struct err *err)
{
    if (c->compression == COMPRESSION_NONE)
        return 0;
    compress_plain(c, true);
    if (c->compression == COMPRESSION_ZSTD) {
        ZSTD_freeCCtx(c->stream);
    } else {
        deflateEnd(c->stream);
        free(c->stream);
    }
    strbuf_release(&c->plain);
    return c->why == NULL ? 0 : err_set(err, HEAPTAP_BUG, "compression stopped: %s", c->why);
}
