/* style.h: appearance of text: colours, numbers for people, and widths.
 *
 * A width counts characters of UTF-8 text, one column each. For ASCII output (util/ascii.h) it
 * counts the replacements. */
#ifndef VIEW_STYLE_H
#define VIEW_STYLE_H

#include "util/arena.h"
#include "util/strbuf.h"

enum ink { INK_PLAIN, INK_DIM, INK_BOLD, INK_TITLE, INK_NUMBER, INK_WARNING };

#define STYLE_NO_LIMIT SIZE_MAX

struct style {
    bool colour;
    size_t width; // Maximum columns of a line; STYLE_NO_LIMIT = no limit.
};

/* Return the style for the open descriptor FD: colours if it is a terminal (none when NO_COLOR is
 * set or TERM is "dumb"), and as many columns as COLUMNS says, else as the terminal has, else no
 * limit. WIDE lifts the limit. */
struct style style_for(int fd, bool wide);

/* Return true if stderr shows progress: it is a terminal that can erase a line, so TERM is not
 * "dumb". */
bool style_shows_progress(void);

/* Switch B to INK, and back to plain with INK_PLAIN. Does nothing without colours. */
void style_ink(const struct style *s, struct strbuf *b, enum ink ink);

/* Add TEXT in INK, then switch back to plain. */
void style_text(const struct style *s, struct strbuf *b, enum ink ink, const char *text);

/* Numbers for people, from ARENA: "12.3 MiB", "512 B", "-1.0 KiB"; "1,234,567"; "45.2 %" (a part of
 * zero is "0.0 %"); "1 min 12 s", "3.25 s", "12 ms". */
const char *style_bytes(struct arena *arena, int64_t bytes);
const char *style_bytes_short(struct arena *arena, int64_t bytes); // "12.3M", where room is scarce.
const char *style_count(struct arena *arena, int64_t count);
const char *style_percent(struct arena *arena, int64_t part, int64_t whole);
const char *style_duration(struct arena *arena, uint64_t ns);

/* Return BYTES as style_bytes does, but exactly, "21,000 bytes", if OTHER, a different amount,
 * would read the same. */
const char *style_bytes_beside(struct arena *arena, int64_t bytes, int64_t other);

/* "1 block", "2 blocks". */
const char *style_plural(struct arena *arena, int64_t count, const char *noun);

/* Return how many columns of a line are left after USED. */
size_t style_room(const struct style *s, size_t used);

/* The columns TEXT takes. */
size_t style_width(const char *text);

/* Return TEXT with each control character and each invalid byte replaced by "?", so that a name in
 * a foreign file cannot drive the terminal. TEXT itself if it is clean, else from ARENA. */
const char *style_clean(struct arena *arena, const char *text);

/* TEXT cut to WIDTH columns: its end or its beginning makes room for "…" or "...". TEXT itself if
 * it fits.
 */
const char *style_cut_end(struct arena *arena, const char *text, size_t width);
const char *style_cut_start(struct arena *arena, const char *text, size_t width);

/* Add TEXT and blanks up to WIDTH columns: style_left puts the blanks last, style_right first. */
void style_left(struct strbuf *b, const char *text, size_t width);
void style_right(struct strbuf *b, const char *text, size_t width);

#endif
