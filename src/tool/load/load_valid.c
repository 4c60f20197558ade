/* load_valid.c: invariants that the loader establishes.
 *
 * A cut or merged profile does not keep all of them: a moment has no peak, and a sum of peaks may
 * wrap if the files are damaged. A merged profile is written and loaded before use, and then
 * satisfies all of them again. */
#include "load/loader.h"

#include "format/format.h"
#include "util/ensure.h"
#include "util/map.h"

/* Add KEY to KNOWN. Return true if it is new. */
static bool
load_valid_is_first(struct map *known, uint64_t key)
{
    bool is_new;

    map_put(known, key, &is_new);
    return is_new;
}

/* Return true if each site has a different stack, size class, heap, set of labels or share
 * of callers. KNOWN is
 * empty. */
static bool
sites_are_distinct(const struct profile *p, struct map *known)
{
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *s = &p->sites[i];
        uint64_t key = ((uint64_t)s->node * DISK_SIZE_CLASSES + s->size_class) << 30 |
                       (uint64_t)s->callers << 26 | (uint64_t)s->labels << 13 | s->heap;

        VALID(load_valid_is_first(known, key)); // load_tree.c finds sites by this key.
    }
    return true;
}

static bool
rows_are_distinct(const struct profile *p, struct map *known)
{
    for (size_t i = 0; i < p->thread_site_count; i++) {
        const struct profile_thread_site *t = &p->thread_sites[i];

        // load_counters.c finds rows by this key.
        VALID(load_valid_is_first(known, (uint64_t)t->thread << 32 | t->site));
    }
    return true;
}

bool
loaded_is_valid(const struct profile *p)
{
    struct map sites = {0}, rows = {0};
    bool distinct = sites_are_distinct(p, &sites) && rows_are_distinct(p, &rows);

    map_release(&sites);
    map_release(&rows);
    if (!distinct)
        return false;
    VALID(p->extent == EXTENT_WHOLE); // A file covers the whole run.
    VALID(p->mode_count >= 1);      // The loader adds a mode if the file has none.
    // loader_raise_peak raises the peak to the live bytes.
    VALID(counters_live_bytes(&p->totals) <= p->totals.peak_bytes);
    // The error of the peak is an upper bound.
    VALID(p->peak_error_bytes >= 0);
    // The bins of all threads are summed.
    VALID(p->bin_count == DISK_EXACT_BINS + DISK_RANGE_BINS);
    for (size_t i = 0; i < p->unknown_free_count; i++) {
        VALID(p->unknown_frees[i].count > 0); // The loader skips records with a count of 0.
        // Views show the first ones, so they are sorted.
        VALID(i == 0 || p->unknown_frees[i - 1].count >= p->unknown_frees[i].count);
    }
    return true;
}
