/* leak_readings.c: compare the unreachable blocks of several readings of a process.
 *
 * No program can free a block that it has lost. So a block that was unreachable and is gone was
 * never lost: its pointer is hidden, as in a kernel's table or with bits set. A block is the same
 * in two readings if its address, its size and its site are; the site is unknown without a
 * recording, where ids have no meaning beyond a reading. Both lists are ordered by address and
 * merged. */
#include "command/leak_readings.h"

#include <stdlib.h>

struct lost_block {
    uint64_t address, size_bytes;
    uint32_t site;  // 0 = unknown.
    uint32_t since; // As in struct lost_history.
};

static bool
same_block(const struct lost_block *a, const struct lost_block *b)
{
    return a->address == b->address && a->size_bytes == b->size_bytes && a->site == b->site;
}

void
leak_readings_add(struct leak_readings *r, const struct examined *e,
                  const struct memory_answer *answer, struct arena *arena,
                  struct lost_history *ret)
{
    const struct blocks *b = &e->blocks;
    struct lost_block *v = xcalloc(b->count + 1, sizeof *v);
    uint32_t *since = ret != NULL ? arena_array(arena, b->count + 1, sizeof *since) : NULL;
    size_t count = 0, old = 0, matched = 0;

    for (size_t i = 0; i < b->count; i++) {
        struct lost_block *now = &v[count];

        if (!reach_is_lost(answer->reached.of[i]))
            continue;
        *now = (struct lost_block){b->v[i].address, b->v[i].size_bytes,
                                   e->unrecorded ? 0 : b->v[i].site, r->readings};
        while (old < r->count && r->v[old].address < now->address)
            old++;
        if (old < r->count && same_block(&r->v[old], now)) {
            now->since = r->v[old].since;
            matched++;
        }
        if (since != NULL)
            since[i] = now->since;
        count++;
    }
    r->recovered += r->count - matched;
    free(r->v);
    r->v = v;
    r->count = count;
    r->readings++;
    if (ret != NULL)
        *ret = (struct lost_history){r->readings, since, r->recovered};
}

void
leak_readings_release(struct leak_readings *r)
{
    free(r->v);
    *r = (struct leak_readings){0};
}
