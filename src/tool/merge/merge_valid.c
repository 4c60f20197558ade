/* merge_valid.c: invariants of a sum between two inputs.
 *
 * Each table of the sum has a map of its items. If the two disagreed, the next input would
 * duplicate an item. Heaps are summed when the merge ends, so only sums that are maintained all the
 * time are checked. */
#include "merge/merger.h"

#include "profile/profile_valid.h"
#include "util/ensure.h"

/* Return true if the steps are in ascending order and within their limit. */
static bool
time_is_valid(const struct time_sum *t)
{
    VALID(t->count <= MERGE_TIME_POINTS); // The grid becomes coarser when there are more.
    for (size_t i = 1; i < t->count; i++)
        VALID(t->steps[i - 1].index < t->steps[i].index); // Sorted, for binary search.
    return true;
}

/* Return true if each table has as many items as its map. Some tables begin with entries that are
 * not in the map. */
static bool
maps_are_valid(const struct merge *m)
{
    const struct profile *p = m->p;

    VALID(m->threads.count == p->thread_count);           // Each name has one thread.
    // Each pair of thread and site has one row.
    VALID(m->thread_sites.count == p->thread_site_count);
    VALID(m->sites.count == p->site_count);               // Each key has one site.
    // Each pair of kind and stack has one entry.
    VALID(m->frees.count == p->unknown_free_count);
    VALID(m->programs.count == p->program_count);         // Each executable has one program.
    // Each stack that backs a heap has one backing.
    VALID(m->backings.count == p->backing_count);
    VALID(m->heaps.count + 1 == p->heap_count);           // Malloc is not in the map.
    // The empty set and "other labels" are not in the map; several keys may map to "other labels".
    VALID(m->label_sets.count + 2 >= p->label_set_count);
    // The root and "other" are not in the map; keys of nodes without room map to "other".
    VALID(m->nodes.count + 2 >= p->node_count);
    // Module 0 is not in the map; keys of modules without room map to 0.
    VALID(m->modules.count + 1 >= p->module_count);
    return true;
}

bool
merge_is_valid(const struct merge *m)
{
    const struct profile *p = m->p;
    struct counters total = COUNTERS_ZERO;

    for (size_t i = 0; i < p->site_count; i++)
        counters_add(&total, &p->sites[i].counters);
    VALID(counters_are_same(&total, &p->totals)); // An event counts in its site and in the total.
    VALID(p->merged_processes > 0);               // At least one input was added.
    return profile_ids_are_valid(p) && profile_is_writable(p) && maps_are_valid(m) &&
           time_is_valid(&m->time);
}
