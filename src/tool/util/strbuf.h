/* strbuf.h: a growing string. text is NUL-terminated after the first append; {0} is an empty string
 * whose text is NULL (strbuf_text then returns ""). Not thread-safe.
 *
 * Output may exceed the memory that a command should use. Therefore the buffer's owner sets
 * `drain`, and writers call strbuf_pause regularly. */
#ifndef UTIL_STRBUF_H
#define UTIL_STRBUF_H

#include "base/base.h"

struct strbuf {
    char *text;
    size_t length;
    size_t capacity;
    void (*drain)(struct strbuf *b); // Consumes the text and empties B; NULL = keep all text.
    void *drain_arg;                 // Owner's data for `drain`.
};

/* Append to B. Out of memory ends the program. */
void strbuf_add(struct strbuf *b, const void *data, size_t size_bytes);
void strbuf_str(struct strbuf *b, const char *s);
void strbuf_char(struct strbuf *b, char c);
void strbuf_fmt(struct strbuf *b, const char *format, ...) PRINTF(2, 3);

/* Return room for MORE_BYTES after B's text. The caller writes there, then appends the bytes with
 * strbuf_grew. */
char *strbuf_room(struct strbuf *b, size_t more_bytes);
void strbuf_grew(struct strbuf *b, size_t size_bytes);

/* Return the current text, never NULL; valid until B changes. */
const char *strbuf_text(const struct strbuf *b);

/* Drain B if it has a drain and much text. Call this where the writer no longer needs earlier
 * output. */
void strbuf_pause(struct strbuf *b);

/* Truncate B's text to LENGTH bytes, at most its current length. */
void strbuf_cut(struct strbuf *b, size_t length);

/* Empty B and keep its memory. */
void strbuf_clear(struct strbuf *b);

/* Free B's memory. B is then empty ({0}), without a drain. */
void strbuf_release(struct strbuf *b);

/* Return true if B is a valid string as described above (util/ensure.h). */
bool strbuf_is_valid(const struct strbuf *b);

#endif
