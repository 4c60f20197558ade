/* collector.c: garbage collections of a process.
 *
 * A runtime's adapter reports each collection for all heaps that exist. Therefore the number of
 * collections is the largest count of any heap. Snapshots store the number up to their time. */
#include "profile/collector.h"

#include <string.h>

/* Name of the heap that src/recorder/language/gc_record.c creates for lists. */
#define LISTS "libgc lists"

struct profile_collected
profile_collected(const struct profile *p)
{
    struct profile_collected all = {0};

    for (size_t i = 0; i < p->heap_count; i++) {
        const struct profile_heap *h = &p->heaps[i];

        all.is_collected |= h->collected;
        if (h->collections > all.collections)
            all.collections = h->collections;
        if (h->collected_ns > all.last_ns)
            all.last_ns = h->collected_ns;
        if (h->own && strcmp(h->name, LISTS) == 0)
            all.listed += h->counters.allocations;
    }
    return all;
}

uint64_t
profile_collections_at(const struct profile *p, const struct profile_point *m)
{
    if (m->snapshots == 0)
        return 0;
    return m->snapshots <= p->snapshot_count ? p->snapshots[m->snapshots - 1].collections
                                             : profile_collected(p).collections;
}

bool
profile_is_collection(const struct profile *p, const struct profile_point *m)
{
    return strncmp(m->name, "collection ", strlen("collection ")) == 0 &&
           profile_collections_at(p, m) != 0;
}
