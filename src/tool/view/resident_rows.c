/* resident_rows.c: the resident memory of live blocks, by stack or by type.
 *
 * The rows add up to the parts "live blocks" and "live blocks that back the program's heaps". A
 * block without a type is in the row of the function that allocates it. */
#include <stdlib.h>
#include <string.h>

#include "view/memory_view.h"

static int
by_resident_bytes(const void *a, const void *b)
{
    const struct resident_row *x = a, *y = b;

    if (x->resident_bytes != y->resident_bytes)
        return x->resident_bytes > y->resident_bytes ? -1 : 1;
    return x->blocks.bytes != y->blocks.bytes ? (x->blocks.bytes > y->blocks.bytes ? -1 : 1)
                                              : strcmp(x->name, y->name);
}

/* Return the row called NAME of the COUNT rows in ROWS; a new one if there is none. */
static struct resident_row *
row_called(struct resident_row *rows, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    rows[*count].name = name;
    return &rows[(*count)++];
}

static void
merge_row(struct resident_row *to, const struct resident_row *from)
{
    to->blocks.blocks += from->blocks.blocks;
    to->blocks.bytes += from->blocks.bytes;
    to->resident_bytes += from->resident_bytes;
}

void
memory_view_list_resident(const struct view *v, enum resident_by by, const uint32_t *types,
                          struct memory_view *m)
{
    const struct resident *r = &m->answer->resident;
    const struct blocks *b = &m->e->blocks;
    uint32_t site_count, *sites = block_stacks_sites(v->p, v->arena, &site_count);
    size_t sums_count = by == RESIDENT_BY_SITE ? v->stacks->count : v->p->site_count, count = 0;
    struct resident_row *sums = arena_array(v->arena, sums_count + 1, sizeof *sums);
    struct resident_row *rows = arena_array(v->arena, sums_count + 1, sizeof *rows);

    for (size_t i = 0; i < b->count; i++) {
        uint32_t site = b->v[i].site < site_count ? sites[b->v[i].site] : 0;
        uint32_t at = by == RESIDENT_BY_SITE ? m->stacks.stack_of[i] : site;
        struct resident_row one = {.blocks = {1, b->v[i].size_bytes},
                                   .resident_bytes = r->block_bytes[i]};

        if (m->stacks.stack_of[i] == 0 || at == 0)
            continue;
        sums[at - 1].stack = &v->stacks->v[m->stacks.stack_of[i] - 1];
        merge_row(&sums[at - 1], &one);
    }
    for (size_t i = 0; i < sums_count; i++) {
        struct resident_row *s = &sums[i];

        if (s->stack == NULL)
            continue;
        s->name = by == RESIDENT_BY_TYPE && types[i] != 0 ? profile_string(v->p, types[i])
                                                          : memory_view_function(v, s->stack);
        if (by == RESIDENT_BY_SITE)
            rows[count++] = *s;
        else
            merge_row(row_called(rows, &count, s->name), s);
    }
    if (count > 1)
        qsort(rows, count, sizeof *rows, by_resident_bytes);
    m->resident = rows;
    m->resident_count = count;
}
