/* page_writer.h: embed a document in the page that shows it. */
#ifndef HTML_PAGE_WRITER_H
#define HTML_PAGE_WRITER_H

#include <zlib.h>

#include "util/strbuf.h"

/* Pages begin with these bytes and soon have this text; page_is_ours looks for both. */
#define PAGE_BEGIN "<!doctype html>"
#define PAGE_GENERATOR "content=\"heaptap html\""
enum { PAGE_HEAD_BYTES = 4096 };

struct page_writer {
    struct strbuf data; // Contents of the page are written here; see page_begin.
    struct strbuf *out;
    const char *rest; // Rest of the template, behind the data.
    z_stream z;
    unsigned char left[3]; // Bytes that are not encoded yet.
    size_t left_count;
    size_t column; // Characters of the line.
};

/* Return the template that the build made from src/page, or NULL if it made none. */
const char *page_template(void);

/* Start writing TEMPLATE, which has a line of PAGE_MARKER, to OUT, which the caller keeps. Output
 * to W->data, in parts separated by strbuf_pause, replaces the marker, compressed. page_end writes
 * the rest. */
#define PAGE_MARKER "@DATA@"
void page_begin(struct page_writer *w, const char *template, struct strbuf *out);
void page_end(struct page_writer *w);

/* Return true if the LENGTH bytes at TEXT, the first of a file, belong to such a page. */
bool page_is_ours(const char *text, size_t length);

#endif
