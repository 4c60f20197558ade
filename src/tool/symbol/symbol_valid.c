/* symbol_valid.c: what is searched is in order, and what is found leads back. */
#include "symbol/symbol_valid.h"

#include "util/ensure.h"

bool
symcache_is_valid(const struct symcache *c)
{
    HOLDS(c->detail <= DETAIL_DEBUG);             // The file has no other.
    HOLDS(c->by_address.count == c->entry_count); // An address is added once.
    for (size_t i = 0; i < c->entry_count; i++) {
        const struct symcache_entry *e = &c->entries[i];
        const uint64_t *known = map_get(&c->by_address, e->address);

        HOLDS(e->frame_count >= 1 &&
              e->frame_count <= SYMBOL_FRAMES_MAX);               // Readers believe no more.
        HOLDS(e->frame_count <= c->frame_count);                  // The next must not wrap.
        HOLDS(e->first_frame <= c->frame_count - e->frame_count); // Its frames are there.
        HOLDS(known != NULL && *known == i);                      // It is found by its address.
    }
    return true;
}

bool
ranges_are_valid(const struct ranges *r)
{
    uint64_t max = 0;

    for (size_t i = 0; i < r->count; i++) {
        HOLDS(r->v[i].low < r->v[i].high);               // Others are not added.
        HOLDS(i == 0 || r->v[i - 1].low <= r->v[i].low); // They are found by halving.
        max = r->v[i].high > max ? r->v[i].high : max;
        HOLDS(r->max_high[i] == max); // A search ends by this.
    }
    return true;
}
