/* text_size_totals.c: the allocation bins as text.
 *
 * A histogram comes first, to show at a glance which sizes matter, then the rows. The numbers of a
 * row leave room for types within 80 columns. A common size has dozens of types: a row names the
 * first ones, and JSON has all. */
#include "text/text.h"

#include <inttypes.h>
#include <string.h>

#include "analyse/totals.h"
#include "symbol/symbol.h"
#include "text/text_view.h"
#include "view/table.h"

enum { BAR_WIDTH = 36, BEFORE_BAR = 36, TYPES_SHOWN = 4, TYPES_WIDE = 12, TYPE_WIDTH = 24 };

#define MARK_CERTAIN "\xe2\x9c\x93"
#define MARK_LIKELY "~"
#define LEGEND                                                                                     \
    MARK_CERTAIN " certainly that, " MARK_LIKELY                                                   \
                 " likely, with its share of the blocks; others only fit"

static const char *
text_size_totals_share(const struct text_view *v, int64_t part, int64_t whole)
{
    return arena_printf(v->base.arena, "%5.1f",
                        whole > 0 ? 100.0 * (double)part / (double)whole : 0.0);
}

static const char *
bar_label(const struct text_view *v, const struct bin_bar *bar)
{
    if (bar->size_max == UINT64_MAX)
        return arena_printf(v->base.arena, "  above %4" PRIu64, bar->size_min - 1);
    return arena_printf(v->base.arena, "%5" PRIu64 " to %4" PRIu64, bar->size_min, bar->size_max);
}

static void
text_size_totals_put_blocks(struct strbuf *out, const char *block, size_t count)
{
    for (size_t i = 0; i < count; i++)
        strbuf_str(out, block);
}

/* Return the length of a bar for BYTES, in columns; LONGEST has WIDTH. Negative numbers come from
 * damaged files. */
static size_t
bar_blocks(int64_t bytes, int64_t longest, size_t width)
{
    if (bytes <= 0 || longest <= 0)
        return 0;
    return bytes >= longest ? width
                            : (size_t)((double)bytes / (double)longest * (double)width + 0.5);
}

/* Write a bar whose length is proportional to the bytes, and whose full part is the share that is
 * still live. */
static void
text_size_totals_put_bar(struct text_view *v, const struct bin_bar *bar, int64_t longest)
{
    size_t room = style_room(&v->style, BEFORE_BAR), width = room < BAR_WIDTH ? room : BAR_WIDTH;
    size_t all = bar_blocks(bar->counters.allocated_bytes, longest, width);
    size_t full = bar_blocks(counters_live_bytes(&bar->counters), longest, width);

    if (all == 0 && bar->counters.allocated_bytes > 0)
        all = 1;
    if (full > all)
        full = all;
    text_size_totals_put_blocks(v->out, "\xe2\x96\x88", full);
    text_size_totals_put_blocks(v->out, "\xe2\x96\x91", all - full);
}

static void
put_histogram(struct text_view *v, const struct size_totals *bins)
{
    struct bin_bar bars[BIN_BAR_COUNT];
    int64_t longest = 0;

    size_totals_bars(bins, bars);
    for (size_t i = 0; i < BIN_BAR_COUNT; i++)
        if (bars[i].counters.allocated_bytes > longest)
            longest = bars[i].counters.allocated_bytes;
    text_title(v, "Bytes by size of block", "\xe2\x96\x88 kept  \xe2\x96\x91 freed");
    for (size_t i = 0; i < BIN_BAR_COUNT; i++) {
        int64_t bytes = bars[i].counters.allocated_bytes;

        strbuf_fmt(v->out, "%s  %5s %%  ", bar_label(v, &bars[i]),
                   text_size_totals_share(v, bytes, bins->total.allocated_bytes));
        style_right(v->out, style_bytes(v->base.arena, bytes), 10);
        strbuf_str(v->out, bytes > 0 ? "  " : "");
        text_size_totals_put_bar(v, &bars[i], longest);
        strbuf_char(v->out, '\n');
    }
}

static const char *
size_label(const struct text_view *v, uint64_t size)
{
    return size == BIN_LARGER ? arena_printf(v->base.arena, "> %d", BIN_SIZE_MAX)
                              : arena_printf(v->base.arena, "%6" PRIu64, size);
}

static const char *
range_label(const struct text_view *v, const struct bin_range *range)
{
    return arena_printf(v->base.arena, "%" PRIu64 " to %" PRIu64, range->size_min,
                        range->size_max);
}

/* Return the names of types that blocks of ROW are known to have. Names are interned, so their
 * addresses are the keys. */
static struct map
text_size_totals_known_names(const struct bin_row *row)
{
    struct map names = {0};

    for (size_t i = 0; i < row->known_count; i++)
        map_put(&names, (uintptr_t)row->known[i].name, NULL);
    return names;
}

static const char *
fit_type(const struct text_view *v, const char *name)
{
    return text_is_wide(v) ? name : symbol_shorten(v->base.arena, name, TYPE_WIDTH);
}

/* Return true if all blocks of ROW have a known type. */
static bool
all_is_known(const struct bin_row *row)
{
    int64_t allocations = 0;

    for (size_t i = 0; i < row->known_count; i++)
        allocations = counters_sum(allocations, row->known[i].counters.allocations);
    return row->known_count > 0 && allocations >= row->counters.allocations;
}

/* Return the share of KNOWN, " 40.0 %"; "" if it has all blocks of ROW. */
static const char *
part_text(const struct text_view *v, const struct bin_type *known, const struct bin_row *row)
{
    int64_t part = known->counters.allocations, whole = row->counters.allocations;

    return part >= whole ? "" : arena_printf(v->base.arena, " %s",
                                             style_percent(v->base.arena, part, whole));
}

/* Return the types of ROW in one line: first types of the blocks, marked, then types of the size,
 * unless all blocks have a type. */
static const char *
types_text(const struct text_view *v, const struct bin_row *row)
{
    size_t limit = text_is_wide(v) ? TYPES_WIDE : TYPES_SHOWN;
    struct map known_types = text_size_totals_known_names(row);
    struct strbuf text = {0};
    size_t shown = 0;
    size_t left = 0;
    const char *copy;

    for (size_t i = 0; i < row->known_count; i++) {
        const struct bin_type *known = &row->known[i];

        if (shown++ < limit)
            strbuf_fmt(&text, "%s%s%s%s", text.length > 0 ? ", " : "",
                       known->verdict == VERDICT_CERTAIN ? MARK_CERTAIN : MARK_LIKELY,
                       fit_type(v, known->name), part_text(v, known, row));
    }
    for (size_t i = 0; i < row->type_count && !all_is_known(row); i++) {
        const char *name = profile_string(v->base.p, row->types[i].name);

        if (map_get(&known_types, (uintptr_t)name) == NULL && shown++ < limit)
            strbuf_fmt(&text, "%s%s", text.length > 0 ? ", " : "", fit_type(v, name));
    }
    map_release(&known_types);
    left = shown > limit ? shown - limit : 0;
    if (left > 0)
        strbuf_fmt(&text, " and %zu more", left);
    copy = arena_strdup(v->base.arena, strbuf_text(&text));
    strbuf_release(&text);
    return copy;
}

static void
text_size_totals_add_row(struct text_view *v, struct table *t, const char *label,
                         const struct counters *c, const struct counters *whole, const char *types)
{
    table_string(t, label);
    table_number(t, c->allocations);
    table_number(t, c->allocated_bytes);
    table_string(t, text_size_totals_share(v, c->allocated_bytes, whole->allocated_bytes));
    table_number(t, c->frees);
    table_number(t, counters_live_bytes(c));
    table_string(t, text_size_totals_share(v, counters_live_bytes(c), counters_live_bytes(whole)));
    table_string(t, types);
}

static void
text_size_totals_put_rows(struct text_view *v, const struct size_totals *bins,
                          const struct bin_row *const *rows, size_t count)
{
    static const struct column columns[] = {
        {COLUMN_TEXT, NULL, "  size", false, NULL}, {COLUMN_COUNT, NULL, "allocs", false, NULL},
        {COLUMN_BYTES, NULL, "bytes", false, NULL}, {COLUMN_TEXT, NULL, "    %", false, NULL},
        {COLUMN_COUNT, NULL, "frees", true, NULL}, {COLUMN_BYTES, NULL, "kept", false, NULL},
        {COLUMN_TEXT, NULL, "    %", true, NULL},  {COLUMN_TEXT, NULL, "types", false, NULL},
    };
    struct table t;

    table_begin(&t, v->base.arena, columns, countof(columns));
    for (size_t i = 0; i < count; i++)
        text_size_totals_add_row(v, &t, size_label(v, rows[i]->size), &rows[i]->counters,
                                 &bins->total, types_text(v, rows[i]));
    for (size_t i = 0; i < bins->range_count; i++)
        text_size_totals_add_row(v, &t, range_label(v, &bins->ranges[i]),
                                 &bins->ranges[i].counters, &bins->total, "");
    text_size_totals_add_row(v, &t, "total", &bins->total, &bins->total, "");
    strbuf_char(v->out, '\n');
    table_text(&t, &v->style, SIZE_MAX, v->out);
}

/* Write the sum of the rows that are not shown. */
static void
text_size_totals_put_rest(struct text_view *v, const struct size_totals *bins,
                          const struct bin_row *const *rows, size_t shown)
{
    int64_t bytes = 0;

    if (shown == bins->count)
        return;
    for (size_t i = shown; i < bins->count; i++)
        bytes = counters_sum(bytes, rows[i]->counters.allocated_bytes);
    text_prose(v, ATTR_DIM,
               arena_printf(v->base.arena,
                            "\xe2\x80\xa6 %s with %s of the bytes; --all shows them",
                            style_plural(v->base.arena, (int64_t)(bins->count - shown),
                                         "more size"),
                            style_percent(v->base.arena, bytes, bins->total.allocated_bytes)));
}

void
text_size_totals(struct text_view *v, size_t top)
{
    const struct bin_row **rows;
    struct size_totals bins;
    size_t shown;

    size_totals_build(v->base.p, v->base.arena, &bins);
    rows = size_totals_by_bytes(&bins, v->base.arena);
    shown = top < bins.count ? top : bins.count;
    text_header(v);
    // The bars of a cut profile would lack the blocks that are known only by a range.
    if (v->base.p->extent == EXTENT_WHOLE)
        put_histogram(v, &bins);
    if (shown == bins.count)
        for (size_t i = 0; i < bins.count; i++)
            rows[i] = &bins.v[i];
    text_size_totals_put_rows(v, &bins, rows, shown);
    text_size_totals_put_rest(v, &bins, rows, shown);
    text_not_in_size_totals(v);
    if (bins.range_count > 0)
        text_prose(v, ATTR_DIM,
                   "A range, such as 17 to 30, has the stacks that request several sizes; each "
                   "size is known for the whole run only.");
    if (v->base.p->type_count > 0)
        text_wrapped(v, ATTR_DIM, "", LEGEND);
}

void
text_lisp_size_totals(struct text_view *v)
{
    struct table t;

    text_header(v);
    lisp_table_build(&v->base, &t);
    if (table_rows(&t) == 0) {
        text_line(v, ATTR_PLAIN, "There are no Lisp objects in this profile.");
        return;
    }
    strbuf_char(v->out, '\n');
    table_text(&t, &v->style, SIZE_MAX, v->out);
    text_prose(v, ATTR_DIM,
               "Kept is what no collection has reclaimed yet. Bytes are with all that belongs to "
               "an object.");
}

/* Return the types of ROW as mprof wrote them: only names, known types of the blocks first. */
static const char *
classic_types(const struct text_view *v, const struct bin_row *row)
{
    struct map shown = {0};
    struct strbuf text = {0};
    const char *copy;

    for (size_t i = 0; i < row->known_count; i++) {
        bool is_new;

        map_put(&shown, (uintptr_t)row->known[i].name, &is_new);
        if (is_new)
            strbuf_fmt(&text, "%s%s", text.length > 0 ? ", " : "", row->known[i].name);
    }
    for (size_t i = 0; i < row->type_count; i++) {
        const char *name = profile_string(v->base.p, row->types[i].name);

        if (map_get(&shown, (uintptr_t)name) == NULL)
            strbuf_fmt(&text, "%s%s", text.length > 0 ? ", " : "", name);
    }
    map_release(&shown);
    copy = arena_strdup(v->base.arena, strbuf_text(&text));
    strbuf_release(&text);
    return copy;
}

enum { CLASSIC_COLUMNS = 5 }; // Number of columns with numbers; the types follow.

static void
classic_cells(const struct text_view *v, const char *label, const struct counters *c,
              const struct counters *whole, const char *ret[CLASSIC_COLUMNS])
{
    int64_t kept = counters_live_bytes(c);

    ret[0] = label;
    ret[1] = arena_printf(v->base.arena, "%" PRId64, c->allocations);
    ret[2] = whole ? classic_share(v->base.arena, c->allocated_bytes, whole->allocated_bytes)
                   : arena_printf(v->base.arena, "%" PRId64 "     ", c->allocated_bytes);
    ret[3] = arena_printf(v->base.arena, "%" PRId64, c->frees);
    ret[4] = whole ? classic_share(v->base.arena, kept, counters_live_bytes(whole))
                   : arena_printf(v->base.arena, "%" PRId64 "     ", kept);
}

void
classic_size_totals(struct text_view *v)
{
    static const char *const titles[CLASSIC_COLUMNS] = {"size:", "allocs", "bytes (%)", "frees",
                                                        "kept (%)"};
    struct size_totals bins;
    size_t count;
    const char *(*cells)[CLASSIC_COLUMNS];
    size_t widths[CLASSIC_COLUMNS] = {0};

    size_totals_build(v->base.p, v->base.arena, &bins);
    count = bins.count + bins.range_count + 2;
    cells = arena_array(v->base.arena, count, sizeof *cells);
    memcpy(cells[0], titles, sizeof titles);
    for (size_t i = 0; i < bins.count; i++)
        classic_cells(v, size_label(v, bins.v[i].size), &bins.v[i].counters, &bins.total,
                      cells[i + 1]);
    for (size_t i = 0; i < bins.range_count; i++)
        classic_cells(v, range_label(v, &bins.ranges[i]), &bins.ranges[i].counters, &bins.total,
                      cells[bins.count + 1 + i]);
    classic_cells(v, "<TOTAL>", &bins.total, NULL, cells[count - 1]);
    for (size_t i = 0; i < count * CLASSIC_COLUMNS; i++) {
        size_t width = style_width(cells[i / CLASSIC_COLUMNS][i % CLASSIC_COLUMNS]);
        size_t *column = &widths[i % CLASSIC_COLUMNS];

        *column = width > *column ? width : *column;
    }
    for (size_t i = 0; i < count; i++) {
        const char *types = i == 0 ? "types" : "";
        struct strbuf line = {0};

        if (i > 0 && i <= bins.count)
            types = classic_types(v, &bins.v[i - 1]);
        for (size_t k = 0; k < CLASSIC_COLUMNS; k++) {
            strbuf_str(&line, k > 0 ? "  " : "");
            style_right(&line, cells[i][k], widths[k]);
        }
        if (*types != '\0')
            strbuf_fmt(&line, "  %s", types);
        while (line.length > 0 && line.text[line.length - 1] == ' ')
            line.text[--line.length] = '\0';
        text_line(v, ATTR_PLAIN, strbuf_text(&line));
        strbuf_release(&line);
    }
}
