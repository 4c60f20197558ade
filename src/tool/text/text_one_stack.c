/* text_one_stack.c: one stack with all its amounts.
 *
 * A row of another view shows a stack by one metric. This view takes the number that other views
 * print (#3). It has all metrics, the sizes and types of the blocks, and the whole stack with its
 * modules. Shares of metrics are of the view's totals, as in the sections of a report. Shares of
 * sizes and types are of the stack's own blocks. */
#include "text/text.h"

#include <inttypes.h>

#include "text/text_view.h"
#include "view/phrases.h"
#include "view/table.h"

#define MARK_CERTAIN "\xe2\x9c\x93"
#define MARK_LIKELY "~"

static void
one_add_row(struct table *t, const char *label, int64_t blocks, int64_t bytes, int64_t whole,
            const char *more)
{
    table_string(t, label);
    table_number(t, blocks);
    table_number(t, bytes);
    table_percent(t, bytes, whole);
    table_string(t, more);
}

/* Write a row for each metric in bytes that is known. E is the errors of C. */
static void
put_amounts(struct text_view *v, const struct counters *c, const struct errors *e)
{
    static const struct column columns[] = {
        {COLUMN_TEXT, NULL, "", false, NULL},       {COLUMN_COUNT, NULL, "blocks", false, NULL},
        {COLUMN_BYTES, NULL, "bytes", false, NULL}, {COLUMN_PERCENT, NULL, "of all", false, NULL},
        {COLUMN_TEXT, NULL, "", true, NULL},
    };
    const struct counters *all = &v->base.stacks->total;
    struct arena *a = v->base.arena;
    struct table t;

    table_begin(&t, a, columns, countof(columns));
    if (metric_is_known_of(v->base.p, METRIC_ALLOC)) {
        one_add_row(&t, "  Allocated", c->allocations, c->allocated_bytes, all->allocated_bytes,
                    sampling_error(a, c, e, METRIC_ALLOC));
        one_add_row(&t, "  Freed", c->frees, c->freed_bytes, all->freed_bytes, "");
    }
    if (metric_is_known_of(v->base.p, METRIC_PEAK))
        one_add_row(&t, "  At the peak", c->peak_blocks, c->peak_bytes, all->peak_bytes,
                    sampling_error(a, c, e, METRIC_PEAK));
    one_add_row(&t, arena_printf(a, "  %s", phrase_live(v->base.p)), counters_live_blocks(c),
                counters_live_bytes(c), counters_live_bytes(all),
                sampling_error(a, c, e, METRIC_INUSE));
    strbuf_char(v->out, '\n');
    table_text(&t, &v->style, SIZE_MAX, v->out);
}

/* Write the counts of short-lived blocks and of reallocations. */
static void
put_lives(struct text_view *v, const struct counters *c)
{
    struct arena *a = v->base.arena;

    if (!metric_is_known_of(v->base.p, METRIC_TEMPORARY))
        return;
    text_prose(v, ATTR_PLAIN,
               arena_printf(a, "  %s: %s of %s %s", phrase_short_lived_title(c),
                            style_count(a, counters_within_16(c)),
                            style_plural(a, c->allocations, "block"), phrase_short_lived(c)));
    if (c->reallocations != 0)
        text_prose(v, ATTR_PLAIN,
                   arena_printf(a, "  Reallocated: %s, which added %s",
                                style_plural(a, c->reallocations, "block"),
                                style_bytes(a, c->grown_bytes)));
}

/* Return the sizes from MIN to MAX. */
static const char *
one_range(struct text_view *v, uint64_t min, uint64_t max)
{
    struct arena *a = v->base.arena;

    return min == max ? phrase_size(a, min)
                      : arena_printf(a, "%s to %s", phrase_size(a, min), phrase_size(a, max));
}

/* Begin a table of shares of the stack's blocks, described by TITLE. */
static void
begin_shares(struct text_view *v, struct table *t, const char *title)
{
    const struct column columns[] = {
        {COLUMN_COUNT, NULL, "  blocks", false, NULL}, {COLUMN_BYTES, NULL, "bytes", false, NULL},
        {COLUMN_PERCENT, NULL, "%", false, NULL},      {COLUMN_TEXT, NULL, title, false, NULL},
    };

    table_begin(t, v->base.arena, columns, countof(columns));
}

/* Add a row for the blocks with the counters C of the stack D: the allocated ones or, in a profile
 * of a peak, the live ones. */
static void
one_add_share(struct text_view *v, struct table *t, const struct counters *c,
              const struct stack_details *d, const char *text)
{
    bool live = !metric_is_known_of(v->base.p, METRIC_ALLOC);

    table_number(t, live ? counters_live_blocks(c) : c->allocations);
    table_number(t, live ? counters_live_bytes(c) : c->allocated_bytes);
    table_percent(t, live ? counters_live_bytes(c) : c->allocated_bytes,
                  live ? counters_live_bytes(&d->total) : d->total.allocated_bytes);
    table_string(t, text);
}

static void
put_one_sizes(struct text_view *v, const struct stack_details *d)
{
    struct table t;

    begin_shares(v, &t, d->total.partial ? "sizes in the whole run" : "sizes");
    for (size_t i = 0; i < SIZE_CLASS_COUNT; i++) {
        const struct counters *c = &d->by_class[i];

        if (c->size_min != SIZE_MIN_NONE)
            one_add_share(v, &t, c, d, one_range(v, c->size_min, c->size_max));
    }
    if (table_rows(&t) == 0)
        return;
    strbuf_char(v->out, '\n');
    table_text(&t, &v->style, SIZE_MAX, v->out);
}

static void
put_one_types(struct text_view *v, const struct stack_details *d)
{
    struct table t;

    // Without a known type the table would only repeat the totals.
    if (d->type_count == 0 || d->types[0].name == NULL)
        return;
    begin_shares(v, &t, "types (" MARK_CERTAIN " certain, " MARK_LIKELY " likely)");
    for (size_t i = 0; i < d->type_count; i++) {
        const struct stack_type *type = &d->types[i];
        const char *mark = type->verdict == VERDICT_CERTAIN ? MARK_CERTAIN : MARK_LIKELY;

        one_add_share(v, &t, &type->counters, d,
                      type->name == NULL ? "unknown"
                                         : arena_printf(v->base.arena, "%s%s", mark, type->name));
    }
    strbuf_char(v->out, '\n');
    table_text(&t, &v->style, SIZE_MAX, v->out);
}

void
text_one_stack(struct text_view *v, const struct stack_details *d, uint32_t highest)
{
    struct arena *a = v->base.arena;
    struct errors errors = {0};

    for (size_t i = 0; i < d->count; i++)
        errors_add(&errors, d->v[i]->errors);
    text_title(v, arena_printf(a, "Stack #%" PRIu32, d->v[0]->number),
               arena_printf(a, "of %s", style_count(a, highest)));
    if (d->count > 1)
        text_prose(v, ATTR_DIM,
                   arena_printf(a, "The options split it into %s.",
                                style_plural(a, (int64_t)d->count, "stack")));
    put_amounts(v, &d->total, &errors);
    put_lives(v, &d->total);
    put_one_sizes(v, d);
    put_one_types(v, d);
    v->names_modules = true;
    for (size_t i = 0; i < d->count; i++)
        text_whole_stack(v, d->v[i], d->count > 1);
    v->names_modules = false;
}
