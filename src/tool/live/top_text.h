/* top_text.h: the screen of `heaptap top` as text, for the terminal and for --batch. Texts are
 * clean UTF-8; the output replaces characters where only ASCII is possible. */
#ifndef LIVE_TOP_TEXT_H
#define LIVE_TOP_TEXT_H

#include "live/top_rows.h"
#include "util/json_out.h"
#include "view/style.h"

/* A process and its rows. */
struct top_shown {
    struct watched process; // Its latest reading may be missing.
    const struct top_digest *digest; // The rows of that reading; NULL = none.
    int64_t resident_bytes;          // 0 = unknown.
    struct top_order order;
    const char *filter; // NULL = none.
};

/* --- The head: the process, its amounts and how it is recorded. */

enum { TOP_HEAD_LINES = 12 };

struct top_line {
    enum attr attr;
    const char *text;
};

/* Store the lines above the rows in RET, each of at most WIDTH columns, from ARENA. Return their
 * number. */
size_t top_head(const struct top_shown *s, size_t width, struct arena *arena,
                struct top_line ret[TOP_HEAD_LINES]);

/* Store a curve of P's live bytes in RET: LINES lines of WIDTH columns, in braille, or in blocks if
 * only ASCII is possible. Return false if there is no curve. */
bool top_curve(const struct profile *p, size_t width, size_t lines, struct arena *arena,
               const char **ret);

/* --- The rows. */

struct top_column {
    enum top_sort sort; // TOP_SORTS = the column sorts nothing.
    const char *title;
    size_t width;
    const char *(*text)(struct arena *arena, const struct top_digest *d, const struct top_row *r,
                        const struct top_column *c);
};

enum { TOP_COLUMNS_MAX = 12 };

/* The columns that fit; the rest of the line has the name and the place. */
struct top_layout {
    struct top_column columns[TOP_COLUMNS_MAX];
    size_t count;
    size_t name_width, place_width; // A place_width of 0 = no place.
    const char *name_title;
};

/* Choose the columns for lines of WIDTH columns. The one that sorts is always among them. */
void top_layout_make(const struct top_digest *d, enum top_sort sort, size_t width,
                     struct top_layout *ret);

/* Return the titles, or the row R, as a line. From ARENA. */
const char *top_titles(const struct top_layout *l, const struct top_order *o, struct arena *arena);
const char *top_row_text(const struct top_layout *l, const struct top_digest *d,
                         const struct top_row *r, struct arena *arena);

/* Return the column of the titles that the column X of the screen is in; TOP_SORTS = none. */
enum top_sort top_column_at(const struct top_layout *l, size_t x);

/* Return the sparkline of R's history, TREND_POINTS - 1 columns. From ARENA. */
const char *top_sparkline(const struct top_row *r, struct arena *arena);

/* --- Processes. */

/* Return the titles of a list of processes, or a line for PROCESS, of at most WIDTH columns. */
const char *top_process_titles(size_t width, struct arena *arena);
const char *top_process_text(const struct watched *process, size_t width, struct arena *arena);

/* --- top_batch.c: a tick as text. */

/* Append S, with at most LIMIT rows, in lines of WIDTH columns. */
void top_batch(const struct top_shown *s, const struct style *style, size_t width, size_t limit,
               struct arena *arena, struct strbuf *out);

/* Append the COUNT PROCESSES. */
void top_batch_processes(const struct watched *processes, size_t count, const struct style *style,
                         size_t width, struct arena *arena, struct strbuf *out);

/* --- top_json.c: a tick as JSON, on one line. */

/* Write S with at most LIMIT rows. */
void top_json(struct json *j, const struct top_shown *s, size_t limit, struct arena *arena);

/* Write the COUNT PROCESSES. */
void top_json_processes(struct json *j, const struct watched *processes, size_t count);

/* Names of enum group_by for --by: only those that `top` shows; then NULL. */
extern const char *const top_by_names[];
enum group_by top_by(int choice);
int top_choice_of(enum group_by by);

#endif
