/* table.h: one table, two renderings. A view fills in rows once; table_text writes them for people,
 * and table_json writes the same rows exactly. Independent of profiles. */
#ifndef VIEW_TABLE_H
#define VIEW_TABLE_H

#include "analyse/group.h"
#include "profile/profile.h"
#include "util/arena.h"
#include "util/json_out.h"
#include "view/style.h"
#include "view/view.h"

enum column_kind {
    COLUMN_BYTES,   // integer; "12.3 MiB"
    COLUMN_COUNT,   // integer; "1,234"
    COLUMN_PERCENT, // number from 0 to 100; "45.2 %"
    COLUMN_TEXT,    // text; NULL is null in JSON, "?" in text
    COLUMN_FLAG,    // boolean; for JSON only
};

/* Shorten TEXT, which is wider than its column, to about WIDTH columns, from ARENA. If the result
 * is still too long, the table cuts it. */
typedef const char *text_fit_fn(struct arena *arena, const char *text, size_t width);

struct column {
    enum column_kind kind;
    const char *key;   // Key in JSON; NULL = not in JSON.
    const char *title; // Title in text; NULL = not in text.
    bool dim;          // Secondary column.
    text_fit_fn *fit;  // COLUMN_TEXT: NULL = cut the end.
};

struct cell {
    int64_t number;   // COLUMN_BYTES, COLUMN_COUNT, COLUMN_FLAG
    double percent;   // COLUMN_PERCENT
    const char *text; // COLUMN_TEXT; borrowed.
};

enum { TABLE_COLUMNS_MAX = 64 };

struct table {
    struct arena *arena;
    struct column columns[TABLE_COLUMNS_MAX];
    size_t column_count;
    struct cell *cells; // Cells by row.
    size_t cell_count, capacity;
};

/* Initialise an empty table with memory from ARENA. COLUMNS (at most TABLE_COLUMNS_MAX) are
 * copied. */
void table_begin(struct table *t, struct arena *arena, const struct column *columns, size_t count);

/* An unknown number: null in JSON, "?" in text. */
#define TABLE_UNKNOWN INT64_MIN

/* Append a cell to the current row, from left to right. The kind must match the column's. A row is
 * complete when each column has a cell. */
void table_number(struct table *t, int64_t number);
void table_percent(struct table *t, int64_t part, int64_t whole);
void table_string(struct table *t, const char *text);
void table_flag(struct table *t, bool flag);

size_t table_rows(const struct table *t);

/* Write titles and at most LIMIT rows, with numbers right-aligned. The last text column gets the
 * rest of the line, and no line exceeds the width of STYLE. */
void table_text(const struct table *t, const struct style *style, size_t limit, struct strbuf *out);

/* Write at most LIMIT rows as an array of objects under KEY. */
void table_json(const struct table *t, struct json *j, const char *key, size_t limit);

/* --- group_table.c: the rows of a grouping with all columns, for text and JSON. */

/* Group the stacks of V by BY, sort the groups by METRIC, and store them in *RET. Allocate from V's
 * arena. */
void group_table_rows(const struct view *v, enum group_by by, enum metric metric,
                      struct groups *ret);

/* The name of each group, and the text beside it: a file, a function, or "". */
struct group_names {
    const char **names, **places;
};

/* Return the names of GROUPS, as the table shows them. From V's arena. */
struct group_names group_table_names(const struct view *v, const struct groups *groups,
                                     enum group_by by);

/* Make *RET a table of GROUPS. Allocate from V's arena. If FULL, text shows whole paths. */
void group_table_fill(const struct view *v, const struct groups *groups, enum group_by by,
                      enum metric metric, bool full, struct table *ret);

/* Return true if the rows are estimates with known errors. */
bool group_table_has_errors(const struct view *v, enum group_by by);

/* Sum METRIC of GROUPS, which are groups by type, for each verdict. */
void group_table_verdicts(const struct groups *groups, enum metric metric,
                          int64_t ret[VERDICT_CERTAIN + 1]);

/* --- lisp_table.c: Lisp objects by class and type, as a table for text and JSON. */

/* Make *RET the table of V's profile, without rows if it has no Lisp objects. */
void lisp_table_build(const struct view *v, struct table *ret);

/* --- losses.c: the recorder's losses as a table, for text and JSON. */

/* A field of struct profile_losses: its name in JSON, its offset (of a uint64_t), and its meaning,
 * as words that follow the count 1 or another count. The first field is the sum of lost events; the
 * next fields, before index loss_cause_end, are its parts. */
struct loss_field {
    const char *key;
    size_t offset;
    const char *meaning_of_one, *meaning;
    const char *remedy; // NULL = there is none, or none is needed.
    size_t bytes_offset; // Offset of the bytes of these allocations; 0 = they are not known.
};
extern const struct loss_field loss_fields[];
extern const size_t loss_field_count;
extern const size_t loss_cause_end;
// Number of leading fields that concern allocations and their stacks.
extern const size_t loss_stack_field_count;

/* Return the value of FIELD in LOSSES. */
uint64_t loss_value(const struct profile_losses *losses, const struct loss_field *field);

/* Return the meaning of FIELD, as words that follow VALUE. */
const char *loss_meaning(const struct loss_field *field, uint64_t value);

/* Return the share of FIELD in P's calls and bytes, as a sentence; NULL if its bytes are unknown.
 * From ARENA. */
const char *loss_share(struct arena *arena, const struct profile *p,
                       const struct loss_field *field);

/* Return the remedy of FIELD, with the limit that was reached; NULL if there is none. From
 * ARENA. */
const char *loss_field_remedy(struct arena *arena, const struct profile *p,
                              const struct loss_field *field);

/* Return the causes of the lost events in LOSSES, "20 in signal handlers ...; 4 in ..."; a single
 * cause without its number; "" if no cause is known. From ARENA. */
const char *loss_causes(struct arena *arena, const struct profile_losses *losses);

/* Return the remedy for the largest of these causes, or NULL. */
const char *loss_remedy(const struct profile_losses *losses);

/* Return the reason why a profile with LOSSES lacks events, as words that follow its name; NULL if
 * it lacks none. MAY_LAG as in struct profile. From ARENA. */
const char *loss_gap(struct arena *arena, const struct profile_losses *losses, bool may_lag);

/* Sentence about a profile whose file could not grow, and the remedy. The amount and the time of
 * the loss are unknown. */
extern const char loss_of_file[], loss_of_file_remedy[];

/* --- classic.c: numbers as in mprof's tables of 1988, for the options --classic.
 *
 * A percentage has two characters. It is truncated instead of rounded, blank below 1, and 99 also
 * represents 100. */

/* Return PART of WHOLE as two characters, or two blanks. The text is static. */
const char *classic_percent(int64_t part, int64_t whole);

/* Return PART and its percentage of WHOLE: "1023876 (99)", or "0     " with blanks of the same
 * width. From ARENA. */
const char *classic_share(struct arena *arena, int64_t part, int64_t whole);

/* Like classic_share, with room for three digits, so that 0 and 100 are written: "2040000 (100)",
 * "0 (0)  ". */
const char *classic_share_full(struct arena *arena, int64_t part, int64_t whole);

#endif
