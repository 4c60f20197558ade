/* hash_places.h: the places for a key in a hash table that only grows. The table is an array of
 * levels, each four times as large as the level before. An entry occupies the first free place for
 * the key. So a table with few entries touches few pages, however large its array is.
 *
 *     places    [ 1024 ][     4096     ][               16384               ] … [   the rest   ]
 *     tries      8 in each level                                                 64 in the last
 *
 * A free place ends a search, because no entry is ever removed. */
#ifndef BASE_HASH_PLACES_H
#define BASE_HASH_PLACES_H

#include "base/base.h"

enum { HASH_PLACES_FIRST = 1024, HASH_PLACES_TRIES = 8, HASH_PLACES_LAST_TRIES = 64 };

/* A sequence of places. Begin it by setting `hash`, and `total`, the number of places. */
struct hash_places {
    uint64_t hash;
    uint32_t total;
    uint32_t start, count; // The present level; count 0 = none yet.
    uint32_t tries;        // Number of places tried in it.
};

/* Store the next place of P in *RET_PLACE, and return true. Return false after the last one. */
static inline bool
hash_places_next(struct hash_places *p, uint32_t *ret_place)
{
    bool is_last = p->start + p->count == p->total;

    if (p->count == 0 || p->tries == (is_last ? HASH_PLACES_LAST_TRIES : HASH_PLACES_TRIES)) {
        if (is_last && p->count != 0)
            return false;
        p->start += p->count;
        p->count = p->count == 0 ? (uint32_t)HASH_PLACES_FIRST : 4 * p->count;
        if (p->count > p->total - p->start)
            p->count = p->total - p->start;
        p->tries = 0;
    }
    *ret_place = p->start + (uint32_t)((p->hash + p->tries++) % p->count);
    return true;
}

#endif
