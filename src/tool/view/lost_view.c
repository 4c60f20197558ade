/* lost_view.c: count a process's blocks by reachability, and list the stacks of unreachable ones.
 *
 * A suppression hides the unreachable blocks that match it, and the blocks that are lost with
 * them: once the user accepts the loss of a list's head, the rest of the list is no news.
 *
 * After several readings of a process, only blocks that two of them found count as lost. Stacks are
 * then ordered by the blocks that they lost since the first reading, because a leak grows and a
 * block whose pointer is hidden does not. */
#include <stdlib.h>

#include "view/memory_view.h"

struct lister {
    const struct lost_rules *rules;
    const struct memory_view *m;
    uint32_t *sites; // As block_stacks_sites.
    uint32_t site_count;
    bool *grew; // By stack and reading: blocks became unreachable.
};

static int
by_lost_bytes(const void *a, const void *b)
{
    const struct lost *x = a, *y = b;
    uint64_t of_x = x->none.bytes + x->through.bytes, of_y = y->none.bytes + y->through.bytes;

    if (x->grown.bytes != y->grown.bytes)
        return x->grown.bytes > y->grown.bytes ? -1 : 1;
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static void
add_block(struct block_sum *sum, const struct block *b)
{
    sum->blocks++;
    sum->bytes += b->size_bytes;
}

static struct suppression *
suppression_of_site(const struct lister *l, size_t block)
{
    uint32_t id = l->m->e->blocks.v[block].site;

    return id < l->site_count && l->sites[id] != 0 ? l->rules->of_site[l->sites[id] - 1] : NULL;
}

/* Return the suppression that hides the unreachable block I, or NULL. */
static struct suppression *
suppression_of(const struct lister *l, size_t i)
{
    const struct reached *r = &l->m->answer->reached;
    struct suppression *s;

    if (l->rules->of_site == NULL)
        return NULL;
    s = suppression_of_site(l, i);
    return s == NULL && r->of[i] == REACH_THROUGH && r->with[i] != 0
               ? suppression_of_site(l, r->with[i] - 1)
               : s;
}

/* Count block I, which was reachable in the first reading or did not exist, as growth of TO. */
static void
add_growth(const struct lister *l, struct lost *to, size_t i)
{
    uint32_t since = l->m->answer->history.since[i];
    bool *seen = &l->grew[(size_t)(to - l->m->lost) * l->m->answer->history.readings + since];

    add_block(&to->grown, &l->m->e->blocks.v[i]);
    to->growths += !*seen;
    *seen = true;
}

/* Add the unreachable block I, which the view shows, to its stack or to its suppression. */
static void
add_lost(const struct lister *l, const struct view *v, struct memory_view *m, size_t i)
{
    const struct block *b = &m->e->blocks.v[i];
    struct lost *to = &m->lost[m->stacks.stack_of[i] - 1];
    const struct lost_history *history = &m->answer->history;
    bool none = m->answer->reached.of[i] == REACH_NONE;
    struct suppression *s = suppression_of(l, i);

    if (s != NULL) {
        add_block(&m->suppressed, b);
        s->counters.allocations++;
        s->counters.allocated_bytes = counters_sum(s->counters.allocated_bytes,
                                                   (int64_t)b->size_bytes);
        return;
    }
    if (history->readings > 0 && history->since[i] + 1 == history->readings) {
        add_block(&m->fresh, b);
        return;
    }
    add_block(&m->reached[none ? REACH_NONE : REACH_THROUGH], b);
    if (history->readings > 0 && history->since[i] > 0)
        add_growth(l, to, i);
    if (to->in_all++ == 0)
        to->first = b->address;
    to->stack = &v->stacks->v[m->stacks.stack_of[i] - 1];
    add_block(none ? &to->none : &to->through, b);
}

void
memory_view_list_lost(const struct view *v, const struct lost_rules *rules, struct memory_view *m)
{
    const struct blocks *b = &m->e->blocks;
    struct lister l = {.rules = rules, .m = m};
    size_t kept = 0;

    m->suppressions = rules->suppressions;
    if (rules->of_site != NULL)
        l.sites = block_stacks_sites(v->p, v->arena, &l.site_count);
    m->lost = arena_array(v->arena, v->stacks->count + 1, sizeof *m->lost);
    l.grew = arena_array(v->arena, (v->stacks->count + 1) * m->answer->history.readings + 1,
                         sizeof *l.grew);
    for (size_t i = 0; i < b->count; i++) {
        uint8_t how = m->answer->reached.of[i];

        if (m->stacks.stack_of[i] == 0)
            add_block(&m->others, &b->v[i]);
        else if (reach_is_lost(how))
            add_lost(&l, v, m, i);
        else
            add_block(&m->reached[how], &b->v[i]);
    }
    for (size_t i = 0; i < v->stacks->count; i++)
        if (m->lost[i].in_all > 0)
            m->lost[kept++] = m->lost[i];
    m->lost_count = kept;
    if (kept > 1)
        qsort(m->lost, kept, sizeof *m->lost, by_lost_bytes);
}
