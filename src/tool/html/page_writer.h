/* page_writer.h: write a document into the page that shows it. */
#ifndef HTML_PAGE_WRITER_H
#define HTML_PAGE_WRITER_H

#include <zlib.h>

#include "util/strbuf.h"

/* A page begins with PAGE_BEGIN and has PAGE_GENERATOR in its first PAGE_HEAD_BYTES. page_is_ours
 * looks for both. */
#define PAGE_BEGIN "<!doctype html>"
#define PAGE_GENERATOR "content=\"heaptap html\""
enum { PAGE_HEAD_BYTES = 4096 };

struct page_writer {
    struct strbuf data; // Buffer for the document, which the caller fills; see page_begin.
    struct strbuf *out;
    const char *rest; // Rest of the template, behind the marker.
    z_stream z;
    unsigned char left[3]; // Bytes that are not yet encoded.
    size_t left_count;
    size_t column; // Number of characters in the current line.
};

/* Return the template that the build made from src/page, or NULL if it made none. */
const char *page_template(void);

/* page_begin writes TEMPLATE to OUT up to the line PAGE_MARKER. The caller then appends the page's
 * data to W->data and calls strbuf_pause now and then; the data is compressed and written in place
 * of the marker. page_end writes the rest of TEMPLATE. The caller keeps OUT. */
#define PAGE_MARKER "@DATA@"
void page_begin(struct page_writer *w, const char *template, struct strbuf *out);
void page_end(struct page_writer *w);

/* Return true if the LENGTH bytes at TEXT, the first of a file, belong to a page of heaptap. */
bool page_is_ours(const char *text, size_t length);

#endif
