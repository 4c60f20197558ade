/* style.h: appearance of text: colours, numbers for people, and widths.
 *
 * A width is the number of terminal columns of UTF-8 text (util/amount.h). For ASCII output
 * (util/amount.h), it includes the replacements. */
#ifndef VIEW_STYLE_H
#define VIEW_STYLE_H

#include "util/arena.h"
#include "util/strbuf.h"

enum attr { ATTR_PLAIN, ATTR_DIM, ATTR_BOLD, ATTR_TITLE, ATTR_NUMBER, ATTR_WARNING };

#define STYLE_NO_LIMIT SIZE_MAX

struct style {
    bool colour;
    size_t width; // Maximum length of a line in columns; STYLE_NO_LIMIT = no limit.
};

/* Return the style for the open descriptor FD. Colours are used on a terminal, unless NO_COLOR is
 * set or TERM is "dumb". The width is COLUMNS, or the terminal's width, or unlimited. WIDE removes
 * the limit. */
struct style style_for(int fd, bool wide);

/* Return true if stderr shows progress: it is a terminal that can erase a line, so TERM is not
 * "dumb". */
bool style_shows_progress(void);

/* Switch B to ATTR; ATTR_PLAIN ends colours. Does nothing without colours. */
void style_attr(const struct style *s, struct strbuf *b, enum attr attr);

/* Append TEXT in ATTR, then switch back to plain. */
void style_text(const struct style *s, struct strbuf *b, enum attr attr, const char *text);

/* Return a number for people, from ARENA: "12.3 MiB", "512 B", "-1.0 KiB"; "1,234,567"; "45.2 %"
 * (any part of zero is "0.0 %"); "1 min 12 s", "3.25 s", "12 ms". */
const char *style_bytes(struct arena *arena, int64_t bytes);
// Short form for narrow columns: "12.3M".
const char *style_bytes_short(struct arena *arena, int64_t bytes);
const char *style_count(struct arena *arena, int64_t count);
const char *style_percent(struct arena *arena, int64_t part, int64_t whole);
const char *style_duration(struct arena *arena, uint64_t ns);

/* Return BYTES like style_bytes; but if OTHER, a different amount, would read the same, return
 * BYTES exactly, "21,000 bytes". */
const char *style_bytes_beside(struct arena *arena, int64_t bytes, int64_t other);

/* Return a count with its noun: "1 block", "2 blocks". */
const char *style_plural(struct arena *arena, int64_t count, const char *noun);

/* Return the number of columns of a line that are left after USED. */
size_t style_room(const struct style *s, size_t used);

/* Return the number of columns of TEXT. */
size_t style_width(const char *text);

/* Return TEXT with "?" for each control character and each invalid byte, so that a name from a file
 * cannot control the terminal. Return TEXT itself if it is clean, otherwise a copy from ARENA. */
const char *style_clean(struct arena *arena, const char *text);

/* Return TEXT cut to WIDTH columns: "…" or "..." replaces the end or the beginning. Return TEXT
 * itself if it fits.
 */
const char *style_cut_end(struct arena *arena, const char *text, size_t width);
const char *style_cut_start(struct arena *arena, const char *text, size_t width);

/* Append TEXT and blanks up to WIDTH columns: style_left puts the blanks after TEXT, style_right
 * before it. */
void style_left(struct strbuf *b, const char *text, size_t width);
void style_right(struct strbuf *b, const char *text, size_t width);

#endif
