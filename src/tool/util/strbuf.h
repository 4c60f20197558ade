/* strbuf.h: a growing string. text is NUL-terminated after the first append; {0} is an empty string
 * whose text is NULL (strbuf_text then returns ""). Not thread-safe.
 *
 * Output files may exceed the memory that we want to use. So the owner sets `drain`, and writers
 * call strbuf_pause regularly. */
#ifndef UTIL_STRBUF_H
#define UTIL_STRBUF_H

#include "base/base.h"

struct strbuf {
    char *text;
    size_t length;
    size_t capacity;
    void (*drain)(struct strbuf *b); // Consumes the text and empties B; NULL = keep all text.
    void *drain_arg;                 // The owner's.
};

/* Append to B. Running out of memory ends the program. */
void strbuf_add(struct strbuf *b, const void *data, size_t size_bytes);
void strbuf_str(struct strbuf *b, const char *s);
void strbuf_char(struct strbuf *b, char c);
void strbuf_fmt(struct strbuf *b, const char *format, ...) PRINTF(2, 3);

/* Reserve MORE_BYTES behind B's text; strbuf_grew appends the bytes written there. */
char *strbuf_room(struct strbuf *b, size_t more_bytes);
void strbuf_grew(struct strbuf *b, size_t size_bytes);

/* Return the text so far, never NULL; valid until B changes. */
const char *strbuf_text(const struct strbuf *b);

/* Call where the writer no longer needs earlier output: drains B if it has much text and a
 * drain. */
void strbuf_pause(struct strbuf *b);

/* Truncate B's text to LENGTH bytes, which it must have. */
void strbuf_cut(struct strbuf *b, size_t length);

/* Empty B and keep its memory. */
void strbuf_clear(struct strbuf *b);

/* Free B's memory; B is empty ({0}) afterwards and has no drain. */
void strbuf_release(struct strbuf *b);

/* Return true if B is a valid string as described above (util/ensure.h). */
bool strbuf_is_valid(const struct strbuf *b);

#endif
