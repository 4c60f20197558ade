/* table.c: rows and typed columns.
 *
 * Text: every column is as wide as its widest cell or title. If lines would be too long, text
 * columns shrink (concessions below), then secondary columns are omitted, and then numbers, from
 * the right. If lines have no limit, text columns are padded only up to a limit, because one C++
 * name may have thousands of characters. Blanks at the end of a line are never written.
 *
 * JSON: the same cells, exact. A column without a title is only in JSON, one without a key only in
 * text.
 */
#include "view/table.h"

#include "util/ensure.h"

enum { GAP = 2, TEXT_MIN = 12, TEXT_READABLE = 32, ALIGNED_MAX = 60 };

void
table_begin(struct table *t, struct arena *arena, const struct column *columns, size_t count)
{
    ENSURE(count <= TABLE_COLUMNS_MAX);
    *t = (struct table){.arena = arena, .column_count = count};
    for (size_t i = 0; i < count; i++)
        t->columns[i] = columns[i];
}

static void
add_cell(struct table *t, struct cell cell)
{
    arena_grow(t->arena, &t->cells, &t->capacity, t->cell_count, sizeof *t->cells);
    t->cells[t->cell_count++] = cell;
}

static enum column_kind
next_kind(const struct table *t)
{
    return t->columns[t->cell_count % t->column_count].kind;
}

void
table_number(struct table *t, int64_t number)
{
    ENSURE(next_kind(t) == COLUMN_BYTES || next_kind(t) == COLUMN_COUNT);
    add_cell(t, (struct cell){.number = number});
}

void
table_percent(struct table *t, int64_t part, int64_t whole)
{
    ENSURE(next_kind(t) == COLUMN_PERCENT);
    add_cell(t, (struct cell){.percent = whole > 0 ? 100.0 * (double)part / (double)whole : 0.0});
}

void
table_string(struct table *t, const char *text)
{
    ENSURE(next_kind(t) == COLUMN_TEXT);
    add_cell(t, (struct cell){.text = text});
}

void
table_flag(struct table *t, bool flag)
{
    ENSURE(next_kind(t) == COLUMN_FLAG);
    add_cell(t, (struct cell){.number = flag});
}

size_t
table_rows(const struct table *t)
{
    return t->cell_count / t->column_count;
}

static size_t
shown_rows(const struct table *t, size_t limit)
{
    return table_rows(t) < limit ? table_rows(t) : limit;
}

static bool
is_unknown(const struct column *column, const struct cell *c)
{
    return (column->kind == COLUMN_BYTES || column->kind == COLUMN_COUNT) &&
           c->number == TABLE_UNKNOWN;
}

static const char *
cell_text(const struct table *t, size_t row, size_t column)
{
    const struct cell *c = &t->cells[row * t->column_count + column];

    if (is_unknown(&t->columns[column], c))
        return "?";
    switch (t->columns[column].kind) {
    case COLUMN_BYTES:
        return style_bytes(t->arena, c->number);
    case COLUMN_COUNT:
        return style_count(t->arena, c->number);
    case COLUMN_PERCENT:
        return arena_printf(t->arena, "%.1f %%", c->percent);
    case COLUMN_TEXT:
        return c->text ? style_clean(t->arena, c->text) : "?";
    case COLUMN_FLAG:
        break;
    }
    return "";
}

/* Steps of shrinking the columns when lines are too long: main text to a readable minimum,
 * secondary text, then all text to the absolute minimum. */
static const struct {
    bool dim;
    size_t min;
} fallbacks[] = {{false, TEXT_READABLE}, {true, TEXT_MIN}, {false, TEXT_MIN}};

static size_t
table_width(const struct table *t, const size_t *widths)
{
    size_t total = 0;

    for (size_t i = 0; i < t->column_count; i++)
        if (t->columns[i].title)
            total += widths[i] + GAP;
    return total > GAP ? total - GAP : 0;
}

static void
squeeze(const struct table *t, const struct style *style, size_t *widths)
{
    size_t total = table_width(t, widths);

    for (size_t k = 0; k < countof(fallbacks); k++) {
        for (size_t i = t->column_count; i-- > 0 && total > style->width;) {
            size_t excess = total - style->width, min = fallbacks[k].min, room;

            if (t->columns[i].kind != COLUMN_TEXT || t->columns[i].title == NULL ||
                t->columns[i].dim != fallbacks[k].dim || widths[i] <= min)
                continue;
            room = widths[i] - min;
            widths[i] -= excess < room ? excess : room;
            total -= excess < room ? excess : room;
        }
    }
}

static void
measure_cells(const struct table *t, const struct style *style, size_t rows, size_t *widths)
{
    for (size_t i = 0; i < t->column_count; i++) {
        if (t->columns[i].title == NULL)
            continue;
        widths[i] = style_width(t->columns[i].title);
        for (size_t r = 0; r < rows; r++) {
            size_t w = style_width(cell_text(t, r, i));

            widths[i] = w > widths[i] ? w : widths[i];
        }
    }
    squeeze(t, style, widths);
}

/* Omit the last shown secondary column if ONLY_DIM, otherwise the last number, but never the first
 * shown column. Return false if there is none. */
static bool
leave_out(struct table *t, bool only_dim)
{
    size_t first = 0;

    while (first < t->column_count && t->columns[first].title == NULL)
        first++;
    for (size_t i = t->column_count; i-- > first + 1;) {
        struct column *c = &t->columns[i];

        if (c->title == NULL || (only_dim ? !c->dim : c->kind == COLUMN_TEXT))
            continue;
        c->title = NULL;
        return true;
    }
    return false;
}

/* Set WIDTHS so that lines fit. Omit columns of T if necessary. */
static void
table_measure(struct table *t, const struct style *style, size_t rows, size_t *widths)
{
    measure_cells(t, style, rows, widths);
    while (table_width(t, widths) > style->width && (leave_out(t, true) || leave_out(t, false)))
        measure_cells(t, style, rows, widths);
}

static const char *
fit(const struct table *t, size_t column, const char *text, size_t width)
{
    text_fit_fn *fn = t->columns[column].fit;

    if (fn && style_width(text) > width)
        text = fn(t->arena, text, width);
    return style_cut_end(t->arena, text, width);
}

static void
table_put_cell(const struct table *t, const struct style *style, size_t column, const char *text,
               size_t width, enum attr attr, struct strbuf *out)
{
    bool is_last = true;

    for (size_t i = column + 1; i < t->column_count; i++)
        is_last = is_last && t->columns[i].title == NULL;
    if (is_last && *text == '\0') {
        while (out->length > 0 && out->text[out->length - 1] == ' ')
            out->text[--out->length] = '\0';
        return;
    }
    if (attr != ATTR_PLAIN)
        style_attr(style, out, attr);
    if (t->columns[column].kind != COLUMN_TEXT)
        style_right(out, text, width);
    else
        style_left(out, fit(t, column, text, width),
                   is_last                                                       ? 0
                   : style->width == STYLE_NO_LIMIT && width > ALIGNED_MAX ? ALIGNED_MAX
                                                                                 : width);
    if (attr != ATTR_PLAIN)
        style_attr(style, out, ATTR_PLAIN);
}

static void
table_put_row(const struct table *t, const struct style *style, const size_t *widths, size_t row,
              struct strbuf *out)
{
    const char *gap = "";

    for (size_t i = 0; i < t->column_count; i++) {
        if (t->columns[i].title == NULL)
            continue;
        strbuf_str(out, gap);
        table_put_cell(t, style, i, cell_text(t, row, i), widths[i],
                       t->columns[i].dim ? ATTR_DIM : ATTR_PLAIN, out);
        gap = "  ";
    }
    strbuf_char(out, '\n');
    strbuf_pause(out);
}

void
table_text(const struct table *t, const struct style *style, size_t limit, struct strbuf *out)
{
    size_t widths[TABLE_COLUMNS_MAX] = {0}, rows = shown_rows(t, limit);
    struct table fitted = *t;
    const char *gap = "";

    table_measure(&fitted, style, rows, widths);
    for (size_t i = 0; i < t->column_count; i++) {
        if (fitted.columns[i].title == NULL)
            continue;
        strbuf_str(out, gap);
        table_put_cell(&fitted, style, i, t->columns[i].title, widths[i], ATTR_DIM, out);
        gap = "  ";
    }
    strbuf_char(out, '\n');
    for (size_t r = 0; r < rows; r++)
        table_put_row(&fitted, style, widths, r, out);
}

static void
json_cell(const struct column *column, const struct cell *c, struct json *j)
{
    if (is_unknown(column, c)) {
        json_string(j, column->key, NULL);
        return;
    }
    switch (column->kind) {
    case COLUMN_BYTES:
    case COLUMN_COUNT:
        json_int(j, column->key, c->number);
        break;
    case COLUMN_PERCENT:
        json_double(j, column->key, c->percent);
        break;
    case COLUMN_TEXT:
        json_string(j, column->key, c->text);
        break;
    case COLUMN_FLAG:
        json_bool(j, column->key, c->number != 0);
        break;
    }
}

void
table_json(const struct table *t, struct json *j, const char *key, size_t limit)
{
    json_array(j, key);
    for (size_t r = 0; r < shown_rows(t, limit); r++) {
        json_object(j, NULL);
        for (size_t i = 0; i < t->column_count; i++)
            if (t->columns[i].key)
                json_cell(&t->columns[i], &t->cells[r * t->column_count + i], j);
        json_end(j);
    }
    json_end(j);
}
