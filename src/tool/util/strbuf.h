/* strbuf.h: a growing string. text is always NUL-terminated once anything was added; {0} is an
 * empty one whose text is NULL (strbuf_text gives "" then). Not thread-safe.
 *
 * What becomes an output file may be much larger than memory should be: its owner sets `drain`, and
 * whoever writes into it calls strbuf_pause now and then.
 */
#ifndef UTIL_STRBUF_H
#define UTIL_STRBUF_H

#include "base/base.h"

struct strbuf {
    char *text;
    size_t length;
    size_t capacity;
    void (*drain)(struct strbuf *b); // Takes what is there away and empties B; NULL = all is kept.
    void *drain_arg;                 // The owner's.
};

/* Append to B. Running out of memory ends the program. */
void strbuf_add(struct strbuf *b, const void *data, size_t size_bytes);
void strbuf_str(struct strbuf *b, const char *s);
void strbuf_char(struct strbuf *b, char c);
void strbuf_fmt(struct strbuf *b, const char *format, ...) PRINTF(2, 3);

/* Room for MORE_BYTES behind B's text; what was written there becomes text by strbuf_grew. */
char *strbuf_room(struct strbuf *b, size_t more_bytes);
void strbuf_grew(struct strbuf *b, size_t size_bytes);

/* The text so far, never NULL; valid until B changes. */
const char *strbuf_text(const struct strbuf *b);

/* To be called where the writer will not look back at what it has written: if that is much, and B
 * has a drain, it goes there. */
void strbuf_pause(struct strbuf *b);

/* Leave of B's text the first LENGTH bytes, which it has. */
void strbuf_cut(struct strbuf *b, size_t length);

/* Empty B and keep its memory. */
void strbuf_clear(struct strbuf *b);

/* Free B's memory; B is empty ({0}) afterwards and has no drain. */
void strbuf_release(struct strbuf *b);

/* Whether B is a string as above says (util/ensure.h). */
bool strbuf_is_valid(const struct strbuf *b);

#endif
