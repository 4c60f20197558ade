/* text_resident.c: the resident memory of a process by use.
 *
 *     Resident memory ── 61.2 MiB
 *
 *         30.1 MiB   49.2 %  live blocks
 *         20.0 MiB   32.7 %  freed, between blocks in use
 *         …
 *     malloc_trim(0) would return 12.0 MiB to the system; …
 *
 *     Blocks that keep freed memory ── if they were free
 *
 *     #3        12.0 MiB   could go back   3 blocks of 720 B
 *           add_node  list.c:12
 */
#include "text/text_view.h"

#include <inttypes.h>

#include "view/phrases.h"

enum { MAPPINGS_SHOWN = 3, HEAPS_SHOWN = 5 };

static void
put_amount(struct text_view *v, uint64_t bytes, uint64_t whole, const char *words)
{
    struct arena *a = v->base.arena;

    text_line(v, ATTR_PLAIN,
              arena_printf(a, "  %12s  %7s  %s", style_bytes(a, (int64_t)bytes),
                           style_percent(a, (int64_t)bytes, (int64_t)whole), words));
}

/* Write the amounts that are not parts of the sum. */
static void
put_beside(struct text_view *v, const struct resident *r)
{
    struct arena *a = v->base.arena;
    const char *text =
        arena_printf(a, "  Its share of shared pages counted only (PSS): %s",
                     style_bytes(a, (int64_t)r->proportional_bytes));

    if (r->huge_bytes > 0)
        text = arena_printf(a, "%s; in huge pages: %s", text,
                            style_bytes(a, (int64_t)r->huge_bytes));
    if (r->swapped_bytes > 0)
        text = arena_printf(a, "%s; swapped out: %s", text,
                            style_bytes(a, (int64_t)r->swapped_bytes));
    text_prose(v, ATTR_DIM, arena_printf(a, "%s.", text));
    if (r->group_bytes > 0)
        text_prose(v, ATTR_DIM,
                   arena_printf(a, "  Its control group has %s%s.",
                                style_bytes(a, (int64_t)r->group_bytes),
                                r->group_max_bytes == 0 || r->group_max_bytes == UINT64_MAX
                                    ? ", without a limit"
                                    : arena_printf(a, " of %s",
                                                   style_bytes(a,
                                                               (int64_t)r->group_max_bytes))));
}

/* Write the arenas of glibc with most free memory. */
static void
put_heaps(struct text_view *v, const struct resident *r)
{
    struct arena *a = v->base.arena;
    size_t shown = 0;

    if (r->heap_count < 2)
        return;
    text_title(v, "Arenas of malloc",
               style_plural(a, (int64_t)r->heap_count, "range"));
    strbuf_char(v->out, '\n');
    for (; shown < r->heap_count && shown < HEAPS_SHOWN; shown++) {
        const struct resident_heap *h = &r->heaps[shown];

        text_line(v, ATTR_PLAIN,
                  arena_printf(a, "  0x%012" PRIx64 "  %12s, %s of them free%s", h->start,
                               style_bytes(a, (int64_t)h->resident_bytes),
                               style_bytes(a, (int64_t)h->free_bytes),
                               h->is_main ? "; the main arena" : ""));
    }
    text_more(v, shown, r->heap_count, "range");
}

static void
put_mappings(struct text_view *v, const struct resident *r)
{
    struct arena *a = v->base.arena;
    size_t shown = 0;

    if (r->parts[RESIDENT_MAPPED] < r->rss_bytes / 20)
        return;
    text_title(v, "Mapped without malloc", "");
    strbuf_char(v->out, '\n');
    for (; shown < r->mapping_count && shown < MAPPINGS_SHOWN; shown++) {
        const struct resident_mapping *m = &r->mappings[shown];

        text_line(v, ATTR_PLAIN,
                  arena_printf(a, "  0x%012" PRIx64 "  %12s of %s  %s", m->start,
                               style_bytes(a, (int64_t)m->resident_bytes),
                               style_bytes(a, (int64_t)(m->end - m->start)),
                               style_clean(a, m->name)));
    }
    text_more(v, shown, r->mapping_count, "mapping");
}

/* Write the heaps of the program, and the share of their memory that their objects occupy. */
static void
put_backings(struct text_view *v, const struct resident *r)
{
    struct arena *a = v->base.arena;

    if (r->backing_count == 0)
        return;
    text_title(v, "Heaps of the program", "");
    strbuf_char(v->out, '\n');
    for (size_t i = 0; i < r->backing_count; i++)
        text_line(v, ATTR_PLAIN,
                  arena_printf(a, "  %-12s  %12s, %s of them in objects",
                               style_clean(a, r->backings[i].name),
                               style_bytes(a, r->backings[i].backing_bytes),
                               style_percent(a, r->backings[i].object_bytes,
                                             r->backings[i].backing_bytes)));
}

/* Write the table of live blocks. */
static void
put_rows(struct text_view *v, const struct memory_view *m)
{
    size_t limit = v->base.limit ? v->base.limit : TEXT_LIMIT, shown = 0;
    struct arena *a = v->base.arena;

    text_title(v, "Live blocks", "resident, and requested");
    for (; shown < m->resident_count && shown < limit; shown++) {
        const struct resident_row *row = &m->resident[shown];

        if (row->stack != NULL || shown == 0)
            strbuf_char(v->out, '\n');
        text_line(v, ATTR_PLAIN,
                  arena_printf(a, "%-4s %12s of %s in %s%s",
                               row->stack != NULL
                                   ? arena_printf(a, "#%" PRIu32, row->stack->number) : "",
                               style_bytes(a, (int64_t)row->resident_bytes),
                               style_bytes(a, (int64_t)row->blocks.bytes),
                               style_plural(a, (int64_t)row->blocks.blocks, "block"),
                               row->stack == NULL
                                   ? arena_printf(a, "  %s", style_clean(a, row->name)) : ""));
        if (row->stack != NULL)
            text_stack(v, row->stack, v->depth, 0);
    }
    if (shown < m->resident_count)
        strbuf_char(v->out, '\n');
    text_more(v, shown, m->resident_count, m->resident[0].stack != NULL ? "stack" : "type");
}

static void
put_pin(struct text_view *v, const struct memory_view *m, const struct trim_pin *p)
{
    struct arena *a = v->base.arena;
    struct stack stack;
    bool known = memory_view_stack(&v->base, m->e, p->site, &stack);

    strbuf_char(v->out, '\n');
    text_line(v, ATTR_PLAIN,
              arena_printf(a, "%-4s %12s could go back without %s of %s",
                           known && stack.number != 0
                               ? arena_printf(a, "#%" PRIu32, stack.number) : "",
                           style_bytes(a, (int64_t)p->returned_bytes),
                           style_plural(a, (int64_t)p->blocks, "block"),
                           style_bytes(a, (int64_t)p->bytes)));
    text_core_site(v, m->e, p->site);
}

static void
put_pins(struct text_view *v, const struct memory_view *m)
{
    const struct resident *r = &m->answer->resident;
    size_t limit = v->base.limit ? v->base.limit : 3, shown = 0;

    // Less than a thousandth of the memory helps nobody.
    while (shown < r->pin_count && shown < limit &&
           r->pins[shown].returned_bytes > r->rss_bytes / 1000) {
        if (shown == 0)
            text_title(v, "Blocks that keep freed memory around them", "");
        put_pin(v, m, &r->pins[shown++]);
    }
}

void
text_resident(struct text_view *v, const struct memory_view *m)
{
    const struct resident *r = &m->answer->resident;
    struct arena *a = v->base.arena;
    const char *advice = resident_advice(a, r);

    text_title(v, "Resident memory", style_bytes(a, (int64_t)r->rss_bytes));
    strbuf_char(v->out, '\n');
    for (size_t i = 0; i < RESIDENT_PARTS; i++)
        if (r->parts[i] > 0)
            put_amount(v, r->parts[i], r->rss_bytes, resident_part_words((enum resident_part)i));
    put_beside(v, r);
    if (advice != NULL)
        text_prose(v, ATTR_PLAIN, arena_printf(a, "  %s", advice));
    if (m->resident_count > 0) {
        put_rows(v, m);
        return;
    }
    put_backings(v, r);
    put_heaps(v, r);
    put_mappings(v, r);
    put_pins(v, m);
}
