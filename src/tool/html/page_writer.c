/* page_writer.c: write one file that shows a profile in any browser.
 *
 *     template up to @DATA@      head, style, and a policy that blocks all external content
 *     H4sIAAAAAAAA…              the document: JSON, gzip, base64, in lines
 *     the rest                   the script
 *
 * gzip makes the data six times smaller. A page must be text, so the data is encoded in base64,
 * which makes it a third larger. Base64 contains no < or &, so no name in the profile can end its
 * element. Browsers decode it without a library, even from a local file.
 *
 * The document of a large profile is many times larger than its page, so it is never in memory as a
 * whole: the JSON writer's output is compressed into the page in parts. The gzip header contains no
 * time, so equal profiles give equal pages.
 *
 * The build makes the template from src/page, if the tools for that are installed. */
#include "html/page_writer.h"

#include <string.h>

#include "util/ensure.h"

enum { LEVEL = 6, GZIP_WINDOW = 15 + 16, CHUNK_BYTES = 1 << 16, LINE_CHARACTERS = 1024 };

/* The template, terminated by a NUL; empty if the build made none. */
extern const char page_html[];

const char *
page_template(void)
{
    return *page_html != '\0' ? page_html : NULL;
}

static void
put_character(struct page_writer *w, uint32_t bits)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    strbuf_char(w->out, digits[bits & 63]);
    if (++w->column == LINE_CHARACTERS) {
        strbuf_char(w->out, '\n');
        w->column = 0;
    }
}

/* Encode the remaining bytes, from 1 to 3, as one character more than there are bytes. */
static void
put_left(struct page_writer *w)
{
    uint32_t bits = (uint32_t)w->left[0] << 16;

    bits |= w->left_count > 1 ? (uint32_t)w->left[1] << 8 : 0;
    bits |= w->left_count > 2 ? w->left[2] : 0;
    for (size_t i = 0; i <= w->left_count; i++)
        put_character(w, bits >> (18 - 6 * i));
    w->left_count = 0;
}

static void
put_bytes(struct page_writer *w, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        w->left[w->left_count++] = bytes[i];
        if (w->left_count == 3)
            put_left(w);
    }
    strbuf_pause(w->out);
}

/* Compress the contents of W->data. FLUSH is Z_FINISH at the end. */
static void
compress_data(struct page_writer *w, int flush)
{
    unsigned char chunk[CHUNK_BYTES];
    size_t done = 0;
    int rc;

    do {
        size_t count = w->data.length - done;

        count = count < CHUNK_BYTES ? count : CHUNK_BYTES;
        w->z.next_in = (unsigned char *)strbuf_text(&w->data) + done;
        w->z.avail_in = (uInt)count;
        done += count;
        do {
            w->z.next_out = chunk;
            w->z.avail_out = sizeof chunk;
            rc = deflate(&w->z, done == w->data.length ? flush : Z_NO_FLUSH);
            ENSURE(rc != Z_STREAM_ERROR);
            put_bytes(w, chunk, sizeof chunk - w->z.avail_out);
        } while (w->z.avail_out == 0);
    } while (done < w->data.length);
    strbuf_clear(&w->data);
}

static void
page_writer_drain(struct strbuf *data)
{
    compress_data(data->drain_arg, Z_NO_FLUSH);
}

void
page_begin(struct page_writer *w, const char *template, struct strbuf *out)
{
    const char *marker = strstr(template, PAGE_MARKER);
    int rc;

    ENSURE(marker != NULL);
    *w = (struct page_writer){.out = out, .rest = marker + strlen(PAGE_MARKER)};
    w->data = (struct strbuf){.drain = page_writer_drain, .drain_arg = w};
    rc = deflateInit2(&w->z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
    ENSURE(rc == Z_OK); // deflate cannot fail, because running out of memory ends the program.
    strbuf_add(out, template, (size_t)(marker - template));
}

void
page_end(struct page_writer *w)
{
    compress_data(w, Z_FINISH);
    deflateEnd(&w->z);
    if (w->left_count > 0) {
        size_t missing = 3 - w->left_count;

        put_left(w);
        for (size_t i = 0; i < missing; i++)
            strbuf_char(w->out, '=');
    }
    strbuf_str(w->out, w->rest);
    strbuf_release(&w->data);
}

bool
page_is_ours(const char *text, size_t length)
{
    size_t begin = strlen(PAGE_BEGIN);

    return length >= begin && memcmp(text, PAGE_BEGIN, begin) == 0 &&
           memmem(text, length, PAGE_GENERATOR, strlen(PAGE_GENERATOR)) != NULL;
}
