/* text_retain.c: what keeps memory alive.
 *
 *     Live memory by the root that alone keeps it ── 61.2 MiB
 *
 *     Retained      %     Blocks  Root
 *     41.0 MiB   67.0 %  310,000  server in redis-server
 *     …
 *
 *     A shortest path to it ── 2 blocks
 *
 *         server + 568 in redis-server
 *         * 0x7f12a0001040  1.5 KiB  redisDb[]  initServer
 *           dict
 *         * 0x7f12a0002040     56 B  dict  dictCreate
 */
#include "text/text_view.h"

#include <inttypes.h>
#include <string.h>

#include "symbol/demangle.h"
#include "view/phrases.h"
#include "view/retain_view.h"
#include "view/table.h"

enum { STEPS_SHOWN = 20, NAME_WIDTH = 32 };

static size_t
text_retain_limit(const struct text_view *v, size_t otherwise)
{
    return v->base.limit ? v->base.limit : otherwise;
}

/* Return NAME, a function, a type or a member, shortened unless V is wide. */
static const char *
text_retain_name(const struct text_view *v, const char *name)
{
    struct arena *a = v->base.arena;

    return text_is_wide(v) ? name
                           : style_cut_end(a, symbol_shorten(a, name, NAME_WIDTH), NAME_WIDTH);
}

/* --- Rows --------------------------------------------------------------------------------- */

static const char *
text_retain_fit(struct arena *arena, const char *text, size_t width)
{
    return symbol_shorten(arena, text, width);
}

static void
put_roots(struct text_view *v, const struct retain_view *r, struct table *t)
{
    static const struct column columns[] = {
        {.kind = COLUMN_BYTES, .title = "Retained"},
        {.kind = COLUMN_PERCENT, .title = "%"},
        {.kind = COLUMN_COUNT, .title = "Blocks"},
        {.kind = COLUMN_TEXT, .title = "Kept by", .fit = text_retain_fit},
    };

    table_begin(t, v->base.arena, columns, countof(columns));
    for (size_t i = 0; i < r->row_count; i++) {
        const struct retain_row *row = &r->rows[i];

        table_number(t, (int64_t)row->retained.bytes);
        table_percent(t, (int64_t)row->retained.bytes, (int64_t)r->total.bytes);
        table_number(t, (int64_t)row->retained.blocks);
        table_string(t, row->name);
    }
}

/* Return the site of ROW: "#3 main  file.c:12". */
static const char *
text_retain_site(const struct text_view *v, const struct retain_row *row)
{
    struct arena *a = v->base.arena;
    const char *number =
        row->stack->number != 0 ? arena_printf(a, "#%" PRIu32 " ", row->stack->number) : "";

    return arena_printf(a, "%s%s  %s", number, text_retain_name(v, row->name), row->line);
}

static void
put_owners(struct text_view *v, const struct retain_view *r, struct table *t)
{
    struct column columns[] = {
        {.kind = COLUMN_BYTES, .title = "Retained"},
        {.kind = COLUMN_PERCENT, .title = "%"},
        {.kind = COLUMN_BYTES, .title = "Own"},
        {.kind = COLUMN_COUNT, .title = "Blocks"},
        {.kind = COLUMN_TEXT, .title = "Type", .fit = text_retain_fit},
    };

    if (r->by == RETAIN_BY_SITE)
        columns[countof(columns) - 1] =
            (struct column){.kind = COLUMN_TEXT, .title = "Allocated by"};
    table_begin(t, v->base.arena, columns, countof(columns));
    for (size_t i = 0; i < r->row_count; i++) {
        const struct retain_row *row = &r->rows[i];

        table_number(t, (int64_t)row->retained.bytes);
        table_percent(t, (int64_t)row->retained.bytes, (int64_t)r->total.bytes);
        table_number(t, (int64_t)row->own.bytes);
        table_number(t, (int64_t)row->own.blocks);
        table_string(t, row->stack != NULL ? text_retain_site(v, row) : row->name);
    }
}

static void
put_rows(struct text_view *v, const struct retain_view *r)
{
    static const char *const titles[] = {
        [RETAIN_BY_ROOT] = "Live memory by the root that alone keeps it",
        [RETAIN_BY_SITE] = "Live memory that the blocks of each site keep",
        [RETAIN_BY_TYPE] = "Live memory that the blocks of each type keep",
    };
    struct arena *a = v->base.arena;
    size_t limit = text_retain_limit(v, TEXT_LIMIT);
    struct table t;

    if (r->row_count == 0) {
        text_prose(v, ATTR_PLAIN, "  There is no live block.");
        return;
    }
    text_title(v, titles[r->by], style_bytes(a, (int64_t)r->total.bytes));
    strbuf_char(v->out, '\n');
    if (r->by == RETAIN_BY_ROOT)
        put_roots(v, r, &t);
    else
        put_owners(v, r, &t);
    table_text(&t, &v->style, limit, v->out);
    text_more(v, r->row_count < limit ? r->row_count : limit, r->row_count, "row");
    if (r->by != RETAIN_BY_ROOT && r->lost.blocks > 0)
        text_prose(v, ATTR_WARNING,
                   arena_printf(a, "  %s in %s of these are %slost: see `heaptap core --leaks`.",
                                style_bytes(a, (int64_t)r->lost.bytes),
                                style_plural(a, (int64_t)r->lost.blocks, "block"),
                                r->lacks_memory ? "perhaps " : ""));
}

/* --- The path ----------------------------------------------------------------------------- */

/* Steps that look the same: the same member of blocks of one type and site leads on. */
struct step_run {
    size_t first, count;
};

static bool
is_alike(const struct retain_step *a, const struct retain_step *b)
{
    return strcmp(a->holder, b->holder) == 0 && a->block->site == b->block->site &&
           a->block->size_bytes == b->block->size_bytes && a->within == b->within &&
           a->only == b->only;
}

/* Divide the steps of R into runs, *RET, and return their number. The first step and the last one
 * are runs alone. */
static size_t
divide_steps(const struct text_view *v, const struct retain_view *r, struct step_run **ret)
{
    struct step_run *runs = arena_array(v->base.arena, r->step_count + 1, sizeof *runs);
    size_t count = 0;

    for (size_t i = 0; i < r->step_count; i++) {
        bool alike = i > 1 && i + 1 < r->step_count && is_alike(&r->steps[i - 1], &r->steps[i]);

        if (alike)
            runs[count - 1].count++;
        else
            runs[count++] = (struct step_run){i, 1};
    }
    *ret = runs;
    return count;
}

static void
put_step(struct text_view *v, const struct examined *e, const struct retain_view *r, size_t i)
{
    const struct retain_step *s = &r->steps[i];
    struct arena *a = v->base.arena;
    const char *by = "an unknown stack", *within = "";
    struct stack stack;

    if (memory_view_stack(&v->base, e, s->block->site, &stack))
        by = memory_view_function(&v->base, &stack);
    if (s->within != 0)
        within = arena_printf(a, ", byte %" PRIu64, s->within);
    text_line(v, i == 0 ? ATTR_BOLD : ATTR_PLAIN,
              i == 0 ? arena_printf(a, "    %s", s->holder)
                     : arena_printf(a, "      %s", text_retain_name(v, s->holder)));
    text_line(v, ATTR_PLAIN,
              arena_printf(a, "    %c 0x%012" PRIx64 "  %6s  %s%s%s%s", s->only ? '*' : ' ',
                           s->block->address, phrase_size(a, s->block->size_bytes),
                           s->type != NULL ? text_retain_name(v, s->type) : "",
                           s->type != NULL ? "  " : "", by, within));
}

/* Write the steps of RUN: at most two, and the number of the others. */
static void
put_run(struct text_view *v, const struct examined *e, const struct retain_view *r,
        const struct step_run *run)
{
    enum { ALL_SHOWN = 3 };
    size_t shown = run->count <= ALL_SHOWN ? run->count : 1;

    for (size_t i = 0; i < shown; i++)
        put_step(v, e, r, run->first + i);
    if (shown < run->count)
        text_line(v, ATTR_DIM,
                  arena_printf(v->base.arena, "      … %s more like it",
                               style_plural(v->base.arena, (int64_t)(run->count - shown),
                                            "block")));
}

static void
put_path(struct text_view *v, const struct examined *e, const struct retain_view *r)
{
    struct arena *a = v->base.arena;
    size_t limit = text_retain_limit(v, STEPS_SHOWN), hidden = 0, count;
    struct step_run *runs;
    bool only = false;

    if (r->step_count == 0)
        return;
    text_title(v, "A shortest path to it", style_plural(a, (int64_t)r->step_count, "block"));
    strbuf_char(v->out, '\n');
    count = divide_steps(v, r, &runs);
    for (size_t i = 0; i < count; i++) {
        if (count > limit && i >= (limit + 1) / 2 && count - i > limit / 2) {
            hidden += runs[i].count;
            continue;
        }
        if (hidden > 0)
            text_line(v, ATTR_DIM,
                      arena_printf(a, "      … %s more; --limit shows more",
                                   style_plural(a, (int64_t)hidden, "block")));
        hidden = 0;
        put_run(v, e, r, &runs[i]);
        only |= r->steps[runs[i].first].only && runs[i].first + 1 < r->step_count;
    }
    if (only)
        text_prose(v, ATTR_DIM, "  * Every path leads through this block.");
}

static void
put_target(struct text_view *v, const struct memory_view *m, const struct retain_view *r)
{
    struct arena *a = v->base.arena;

    strbuf_char(v->out, '\n');
    text_core_place(v, m->e, m->answer->address);
    strbuf_char(v->out, '\n');
    if (r->step_count == 0)
        text_prose(v, ATTR_WARNING,
                   r->lacks_memory ? "  It is perhaps lost: no root in the rest of the dump leads "
                                     "to it."
                                   : "  It is lost: no root leads to it.");
    text_prose(v, ATTR_PLAIN,
               r->retained.blocks <= 1
                   ? "  It keeps no other block."
                   : arena_printf(a, "  It keeps %s in %s, itself included.",
                                  style_bytes(a, (int64_t)r->retained.bytes),
                                  style_plural(a, (int64_t)r->retained.blocks, "block")));
    put_path(v, m->e, r);
}

void
text_retain(struct text_view *v, const struct memory_view *m)
{
    const struct retain_view *r = m->retain;

    if (r->retain->target != NULL)
        put_target(v, m, r);
    else
        put_rows(v, r);
}
