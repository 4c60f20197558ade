/* lisp_table.c: Lisp objects by class and type, as a table for text and JSON.
 *
 * This is mprof's table of bins for Lisp. It has types in four classes instead of sizes, because
 * the types of objects are known, and sizes say less about them. The last row is the total.
 */
#include "view/table.h"

#include "analyse/totals.h"

static void
lisp_table_add_row(struct table *t, const char *class, const char *type, const struct counters *c,
                   const struct counters *whole)
{
    table_string(t, class);
    table_string(t, type);
    table_number(t, c->allocations);
    table_number(t, c->allocated_bytes);
    table_percent(t, c->allocated_bytes, whole->allocated_bytes);
    table_number(t, c->frees);
    table_number(t, counters_live_blocks(c));
    table_number(t, counters_live_bytes(c));
    table_percent(t, counters_live_bytes(c), counters_live_bytes(whole));
}

void
lisp_table_build(const struct view *v, struct table *ret)
{
    static const struct column columns[] = {
        {COLUMN_TEXT, "class", "class", false, NULL},
        {COLUMN_TEXT, "type", "type", false, NULL},
        {COLUMN_COUNT, "allocs", "allocs", false, NULL},
        {COLUMN_BYTES, "bytes", "bytes", false, NULL},
        {COLUMN_PERCENT, "percent", "%", false, NULL},
        {COLUMN_COUNT, "frees", "frees", false, NULL},
        {COLUMN_COUNT, "kept_objects", "kept", false, NULL},
        {COLUMN_BYTES, "kept_bytes", "bytes", false, NULL},
        {COLUMN_PERCENT, "kept_percent", "%", false, NULL},
    };
    struct lisp_types types;

    lisp_types_build(v->p, v->arena, &types);
    table_begin(ret, v->arena, columns, countof(columns));
    for (size_t i = 0; i < types.count; i++) {
        const struct lisp_row *row = &types.v[i];
        const char *letter = lisp_class_letter(row->class);

        if (row->type == NULL)
            lisp_table_add_row(ret, letter,
                               arena_printf(v->arena, "all %s", lisp_class_title(row->class)),
                               &row->counters, &types.total);
        else
            lisp_table_add_row(ret, letter, row->type, &row->counters, &types.total);
    }
    if (types.count > 0)
        lisp_table_add_row(ret, "", "total", &types.total, &types.total);
}
