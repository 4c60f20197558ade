/* table.h: one table, two renderings. A view fills in rows once; table_text writes them for people,
 * and table_json writes the same rows exactly. Independent of profiles.
 */
#ifndef VIEW_TABLE_H
#define VIEW_TABLE_H

#include "util/json_out.h"
#include "view/style.h"

enum column_kind {
    COLUMN_BYTES,   // integer; "12.3 MiB"
    COLUMN_COUNT,   // integer; "1,234"
    COLUMN_PERCENT, // number from 0 to 100; "45.2 %"
    COLUMN_TEXT,    // text; NULL is null in JSON, "?" in text
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
    int64_t number;   // COLUMN_BYTES, COLUMN_COUNT
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

size_t table_rows(const struct table *t);

/* Write titles and at most LIMIT rows, with numbers right-aligned. The last text column gets the
 * rest of the line, and no line exceeds the width of STYLE. */
void table_text(const struct table *t, const struct style *style, size_t limit, struct strbuf *out);

/* Write at most LIMIT rows as an array of objects under KEY. */
void table_json(const struct table *t, struct json *j, const char *key, size_t limit);

#endif
