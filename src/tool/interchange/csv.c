/* csv.c: write one row per stack, for spreadsheets, data frames and databases (RFC 4180).
 *
 *     live_bytes,live_blocks,peak_bytes,...,heap,labels,function,file,line,module,stack
 *     200,2,200,...,"malloc","","make","src/a.c",3,"/usr/bin/prog","main;work;make"
 *     7,1,7,...,"malloc","","open_it","lib/x.c",4,"/usr/lib/libx.so","main;open_it"
 *
 * The columns equal a site's members in JSON, and docs/guide/exports.md lists them. Function, file,
 * line and module describe the innermost frame of user code, as in the report. The last column has
 * all frames, outermost first. Rows are sorted by the requested metric, largest first. Numbers may
 * be negative; only stacks without any count are left out. An empty number is not known: for
 * example, --at gives no peaks. Estimates have more columns between the numbers and the texts: the
 * number of sampled blocks, and 95 % intervals.
 *
 * Every text is quoted and no number is, so that readers can derive types from the quotes. A row is
 * a line: breaks in a name become blanks, terminal control characters become '?'. In the column of
 * frames, a ';' in a name becomes ':', as in collapsed.c. Lines end in a plain line feed, which
 * readers of the format accept.
 *
 * Spreadsheets evaluate cells that start with = + - or @, quoted or not, and a profile may come
 * from a stranger. So such a text gets a leading apostrophe, and a text that starts with an
 * apostrophe gets a second one. Removing one apostrophe restores the text. */
#include "interchange/interchange.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "analyse/interval.h"
#include "analyse/user_code.h"
#include "export/frame_table.h"
#include "util/amount.h"

/* Kinds of profile that contain a number. */
enum known {
    KNOWN_ALWAYS,
    KNOWN_OF_TIME,      // All profiles, except profiles cut to the peak.
    KNOWN_OF_WHOLE,     // Whole runs.
    KNOWN_OF_LIFETIMES, // Whole runs of recorders that counted lifetimes.
};

static const struct {
    const char *name;
    enum known known;
} numbers[] = {
    {"live_bytes", KNOWN_ALWAYS},       {"live_blocks", KNOWN_ALWAYS},
    {"peak_bytes", KNOWN_OF_WHOLE},     {"peak_blocks", KNOWN_OF_WHOLE},
    {"allocated_bytes", KNOWN_OF_TIME}, {"allocations", KNOWN_OF_TIME},
    {"freed_bytes", KNOWN_OF_TIME},     {"frees", KNOWN_OF_TIME},
    {"reallocations", KNOWN_OF_WHOLE},  {"temporary", KNOWN_OF_WHOLE},
    {"died_within_16", KNOWN_OF_LIFETIMES}, {"died_within_256", KNOWN_OF_LIFETIMES},
    {"size_min", KNOWN_OF_WHOLE},       {"size_max", KNOWN_OF_WHOLE},
};

static const struct {
    const char *name;
    enum interval_of of;
} intervals[] = {
    {"live_bytes", INTERVAL_LIVE_BYTES},
    {"peak_bytes", INTERVAL_PEAK_BYTES},
    {"allocated_bytes", INTERVAL_ALLOCATED_BYTES},
};

static const char *const texts[] = {"heap", "labels", "function", "file",
                                    "line", "module", "stack"};

struct writer {
    const struct profile *p;
    struct arena *arena;
    struct frame_table frames;
    struct user_code own;
    const char **cells; // By row of frames: its name in the last column; NULL = not yet made.
    size_t cell_capacity;
    struct strbuf *out;
};

static void
csv_write_head(struct writer *w)
{
    for (size_t i = 0; i < countof(numbers); i++)
        strbuf_fmt(w->out, "%s,", numbers[i].name);
    if (profile_has_errors(w->p)) {
        strbuf_str(w->out, "samples,");
        for (size_t i = 0; i < countof(intervals); i++)
            strbuf_fmt(w->out, "%s_low,%s_high,", intervals[i].name, intervals[i].name);
    }
    for (size_t i = 0; i < countof(texts); i++)
        strbuf_fmt(w->out, "%s%c", texts[i], i + 1 < countof(texts) ? ',' : '\n');
}

static bool
csv_is_known(const struct writer *w, const struct counters *c, enum known known)
{
    switch (known) {
    case KNOWN_ALWAYS:
        return true;
    case KNOWN_OF_TIME:
        return w->p->extent != EXTENT_PEAK;
    case KNOWN_OF_WHOLE:
        return !c->partial;
    case KNOWN_OF_LIFETIMES:
        return !c->partial && !c->lifetimes_unknown;
    }
    return false;
}

static void
write_numbers(struct writer *w, const struct stack *s)
{
    const struct counters *c = &s->counters;
    int64_t size_min = c->size_min == SIZE_MIN_NONE ? 0 : (int64_t)c->size_min;
    int64_t values[] = {counters_live_bytes(c),
                        counters_live_blocks(c),
                        c->peak_bytes,
                        c->peak_blocks,
                        c->allocated_bytes,
                        c->allocations,
                        c->freed_bytes,
                        c->frees,
                        c->reallocations,
                        c->temporary,
                        counters_within_16(c),
                        counters_within_256(c),
                        size_min,
                        (int64_t)c->size_max};

    static_assert(countof(values) == countof(numbers), "one value per column, in the same order");
    for (size_t i = 0; i < countof(values); i++) {
        if (csv_is_known(w, c, numbers[i].known))
            strbuf_fmt(w->out, "%" PRId64, values[i]);
        strbuf_char(w->out, ',');
    }
    if (!profile_has_errors(w->p))
        return;
    strbuf_fmt(w->out, "%" PRId64 ",",
               interval_rounded(errors_or_none(s->errors)->allocated.samples));
    for (size_t i = 0; i < countof(intervals); i++) {
        struct interval range = interval_of(c, s->errors, intervals[i].of);

        strbuf_fmt(w->out, "%" PRId64 ",%" PRId64 ",", interval_rounded(range.low),
                   interval_rounded(range.high));
    }
}

/* Open a quoted cell whose text starts with TEXT. If a spreadsheet would take TEXT for a formula,
 * add an apostrophe in front. */
static void
begin_text(struct writer *w, const char *text)
{
    strbuf_char(w->out, '"');
    if (*text != '\0' && strchr("=+-@'", *text) != NULL)
        strbuf_char(w->out, '\'');
}

/* Append TEXT to a cell in OUT, with a ':' for each SEPARATOR in TEXT. */
static void
csv_add_text(struct strbuf *out, const char *text, char separator)
{
    size_t skip;

    for (; *text != '\0'; text += skip) {
        size_t shown = character_shown(text, &skip);

        if (*text == '"')
            strbuf_str(out, "\"\"");
        else if (separator != '\0' && *text == separator)
            strbuf_char(out, ':');
        else if (*text == '\n' || *text == '\r' || *text == '\t')
            strbuf_char(out, ' ');
        else if (shown == 0)
            strbuf_char(out, '?');
        else
            strbuf_add(out, text, shown);
    }
}

static void
csv_write_text(struct writer *w, const char *text)
{
    begin_text(w, text);
    csv_add_text(w->out, text, '\0');
    strbuf_str(w->out, "\",");
}

/* Write the frame of user code that describes a row: NAME, and FRAME of the profile or NULL. The
 * next column has the file, so NAME is no label. */
static void
csv_write_frame(struct writer *w, const char *name, const struct profile_frame *frame)
{
    csv_write_text(w, name);
    csv_write_text(w, frame != NULL ? profile_string(w->p, frame->file) : "");
    if (frame != NULL && frame->line != 0)
        strbuf_fmt(w->out, "%" PRIu32, frame->line);
    strbuf_char(w->out, ',');
    csv_write_text(w, frame != NULL ? profile_code_of(w->p, frame) : "");
}

/* Return the name of ROW in the column of frames. Cached, because it recurs in many stacks. */
static const char *
cell_of(struct writer *w, uint32_t row)
{
    arena_grow(w->arena, &w->cells, &w->cell_capacity, row, sizeof *w->cells);
    if (w->cells[row] == NULL) {
        struct strbuf cell = {0};

        csv_add_text(&cell, w->frames.v[row].name, ';');
        w->cells[row] = arena_strdup(w->arena, strbuf_text(&cell));
        strbuf_release(&cell);
    }
    return w->cells[row];
}

static void
write_stack(struct writer *w, const struct stack *s)
{
    const struct profile *p = w->p;
    const struct profile_label_set *labels =
        &p->label_sets[s->labels == STACK_LABELS_SEVERAL ? 0 : s->labels];
    size_t count, own = s->depth > 0 ? user_code_frame(&w->own, s) : 0;
    const uint32_t *rows = frame_table_stack(&w->frames, s, &count);

    write_numbers(w, s);
    csv_write_text(w, p->heaps[s->heap].name);
    csv_write_text(w, labels->text);
    if (s->depth > 0)
        csv_write_frame(w, frame_name(p, s->frames[own], s->locations[own], w->arena),
                        &p->frames[s->frames[own]]);
    else
        csv_write_frame(w, w->frames.v[rows[count - 1]].name, NULL);
    begin_text(w, w->frames.v[rows[0]].name);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            strbuf_char(w->out, ';');
        strbuf_str(w->out, cell_of(w, rows[i]));
        strbuf_pause(w->out);
    }
    strbuf_str(w->out, "\"\n");
}

struct sorted {
    int64_t value;
    size_t index;
};

static int
csv_compare_rows(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;

    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool
csv_is_empty(const struct counters *c)
{
    return c->allocations == 0 && c->allocated_bytes == 0 && c->frees == 0 &&
           c->freed_bytes == 0 && c->peak_bytes == 0 && c->peak_blocks == 0;
}

int
export_csv(const struct profile *p, const struct stacks *stacks,
           const struct export_options *options, struct strbuf *out, struct err *err)
{
    static const struct tag_roots no_roots;
    struct arena arena = {0};
    struct writer w = {.p = p, .arena = &arena, .out = out};
    struct sorted *order = arena_array(&arena, stacks->count, sizeof *order);

    (void)err;
    frame_table_init(&w.frames, p, stacks, &no_roots, &arena);
    user_code_init(&w.own, p, &arena);
    for (size_t i = 0; i < stacks->count; i++)
        order[i] =
            (struct sorted){metric_value(&stacks->v[i].counters, options->metric), i};
    if (stacks->count > 0)
        qsort(order, stacks->count, sizeof *order, csv_compare_rows);
    csv_write_head(&w);
    for (size_t i = 0; i < stacks->count; i++)
        if (!csv_is_empty(&stacks->v[order[i].index].counters))
            write_stack(&w, &stacks->v[order[i].index]);
    frame_table_release(&w.frames);
    arena_release(&arena);
    return 0;
}
