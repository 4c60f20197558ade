/* merge_valid.c: invariants of a sum between two inputs.
 *
 * Each table of the sum has a map of its items. The two must agree, or the next input duplicates an
 * item. Heaps are summed up when the merge ends, so only permanently maintained sums are
 * checked. */
#include "merge/merge_valid.h"

#include "profile/profile_valid.h"
#include "util/ensure.h"

/* Steps of time in the order of the grid, as many as it may have. */
static bool
time_is_valid(const struct time_sum *t)
{
    HOLDS(t->count <= MERGE_TIME_POINTS); // The grid gets coarser when there are more.
    for (size_t i = 1; i < t->count; i++)
        HOLDS(t->steps[i - 1].index < t->steps[i].index); // They are found by halving.
    return true;
}

/* Items in both a table and its map. Some tables begin with unmapped entries. */
static bool
maps_are_valid(const struct merge *m)
{
    const struct profile *p = m->p;

    HOLDS(m->threads.count == p->thread_count);           // One for each name,
    HOLDS(m->thread_sites.count == p->thread_site_count); // for each pair,
    HOLDS(m->sites.count == p->site_count);               // for each key,
    HOLDS(m->frees.count == p->unknown_free_count);       // for each kind of free at a stack,
    HOLDS(m->programs.count == p->program_count);         // for each executable,
    HOLDS(m->backings.count == p->backing_count);         // and each stack that backs a heap.
    HOLDS(m->heaps.count + 1 == p->heap_count);           // Malloc is not looked for.
    HOLDS(m->label_sets.count + 2 >= p->label_set_count); // The empty set and "other labels"
                                                          // neither; several may be the latter.
    HOLDS(m->nodes.count + 2 >= p->node_count); // The root and "other" neither; what finds no room
                                                // is in the map as "other".
    HOLDS(m->modules.count + 1 >= p->module_count); // Module 0 neither; what finds no room is 0.
    return true;
}

bool
merge_is_valid(const struct merge *m)
{
    const struct profile *p = m->p;
    struct counters total = COUNTERS_ZERO;

    for (size_t i = 0; i < p->site_count; i++)
        counters_add(&total, &p->sites[i].counters);
    HOLDS(counters_are_same(&total, &p->totals)); // A counter is added to both at once.
    HOLDS(p->merged_processes > 0);               // Something was added.
    return profile_ids_are_valid(p) && profile_is_writable(p) && maps_are_valid(m) &&
           time_is_valid(&m->time);
}
