/* harness_valid.c: whether what the recorder knows hangs together, asked while no thread is in it.
 *
 * harness_check.c compares the profile with what was done, after the fact and from outside. Here
 * the recorder's own structures are compared with one another, between waves and in each child, so
 * that what is wrong is found where it is, not by a count that is off later:
 *
 *     ledger     every entry of the heap's area is of a site there is, and at each site as many
 *                blocks are live as the counters of all threads say
 *     nodes      whoever is a child of a node has it for its parent; no child twice, no site twice
 *     peak       what threads have told is what the sums say, and live bytes are what they counted
 *
 * Each promise is one line, as in the tools' validity functions (util/ensure.h). The tables of the
 * program's own heaps are seen in unit/heap_table, which can look into them.
 */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/file.h"
#include "monitor/ledger.h"
#include "monitor/nodes.h"
#include "monitor/peak.h"
#include "monitor/state.h"
#include "monitor/thread.h"
#include "util/ensure.h"

static uint64_t
records(enum disk_kind kind)
{
    return state->tables[kind].used;
}

static const struct disk_block *
block_at(uint64_t i)
{
    return table_record(&state->tables[DISK_COUNTERS], i);
}

/* --- The ledger ------------------------------------------------------------------------------- */

/* Add to LIVE, by site, the blocks that the counters of all threads have. */
static void
count_live(int64_t *live)
{
    for (uint64_t i = 0; i < records(DISK_COUNTERS); i++) {
        const struct disk_block *b = block_at(i);

        for (uint32_t s = 0; s < DISK_BLOCK_SITES && b->thread != 0; s++)
            if (b->first_site + s < state->sites)
                live[b->first_site + s] +=
                    (int64_t)(b->counters[s].allocations - b->counters[s].frees);
    }
}

/* Take from LIVE the blocks that the ledger has at [FROM, TO). */
static bool
entries_are_valid(uintptr_t from, uintptr_t to, int64_t *live)
{
    uintptr_t granule = (uintptr_t)1 << state->granule_shift;

    for (uintptr_t address = from; address < to; address += granule) {
        const uint32_t *slot = ledger_slot(address);
        uint32_t site;

        if (slot == NULL || !ledger_is_live(*slot))
            continue;
        site = *slot & LEDGER_SITE_MASK;
        HOLDS(site != 0 && site < state->sites); // A site is there before its first block.
        live[site]--;
    }
    return true;
}

/* What is left of LIVE: blocks that are in the side table alone, because they share granules. */
static bool
rest_is_valid(const int64_t *live)
{
    for (uint64_t i = 0; i < state->sites; i++) {
        HOLDS(live[i] >= 0); // No block in the ledger that was not counted,
        HOLDS(live[i] == 0 || state->usable == USABLE_CALL); // and none counted that is not there.
    }
    return true;
}

bool
ledger_is_valid(void)
{
    int64_t *live = calloc(state->sites, sizeof *live);
    uintptr_t from, to;
    bool valid;

    heap_area(&from, &to);
    count_live(live);
    valid = entries_are_valid(from, to, live) && rest_is_valid(live);
    free(live);
    return valid;
}

/* --- The call tree ---------------------------------------------------------------------------- */

static bool
is_node(uint64_t id)
{
    return id >= DISK_NODE_FIRST && id < records(DISK_NODES);
}

/* Whether CHILD, with FRAME beside its id, is one of PARENT's. */
static bool
child_is_valid(uint32_t parent, uint32_t child, uint64_t frame)
{
    HOLDS(is_node(child));                         // A node is complete before its id is seen.
    HOLDS(state->nodes[child].parent == parent);   // It was made for this place,
    HOLDS(state->nodes[child].frame == frame);     // and this is filled in when all have left.
    return true;
}

/* The children of NODE: the first one, and those in its line. */
static bool
children_are_valid(uint32_t node)
{
    const struct first_child *first = &state->first_children[node];
    const struct children *line = &state->children[first->more];

    HOLDS(first->node != 0 || first->more == 0); // Others come after the first.
    HOLDS(first->more < state->children_used);   // A line is taken before it is used.
    if (first->node != 0 && !child_is_valid(node, first->node, first->frame))
        return false;
    for (uint32_t i = 0; first->more != 0 && i < NODES_FANOUT && line->node[i] != 0; i++) {
        if (!child_is_valid(node, line->node[i], line->frame[i]))
            return false;
        HOLDS(line->frame[i] != first->frame); // Who found that one would not have come here,
        for (uint32_t k = 0; k < i; k++)
            HOLDS(line->frame[i] != line->frame[k]); // nor who found one of those before.
    }
    for (uint32_t i = 1; first->more != 0 && i < NODES_FANOUT; i++)
        HOLDS(line->node[i] == 0 || line->node[i - 1] != 0); // It is filled from the front.
    return true;
}

/* The record of NODE; TAKEN has one for each site. */
static bool
node_is_valid(uint32_t node, bool *taken)
{
    const struct disk_node *n = &state->nodes[node];

    HOLDS(n->frame != 0 || node == DISK_NODE_OTHER); // A node in the table was made.
    HOLDS(n->parent < node || node == DISK_NODE_OTHER); // Its parent was there before.
    for (uint32_t c = 0; c < DISK_SIZE_CLASSES; c++) {
        if (n->site[c] == 0)
            continue;
        HOLDS(n->site[c] < state->sites); // Ids are handed out first.
        HOLDS(!taken[n->site[c]]);        // Each to one node.
        taken[n->site[c]] = true;
    }
    return true;
}

bool
nodes_are_valid(void)
{
    bool *taken = calloc(state->sites, sizeof *taken);
    bool valid = node_is_valid(DISK_NODE_OTHER, taken);

    for (uint32_t i = DISK_NODE_FIRST; i < records(DISK_NODES) && valid; i++)
        valid = node_is_valid(i, taken) && children_are_valid(i);
    valid = valid && children_are_valid(DISK_NODE_ROOT);
    free(taken);
    return valid;
}

/* --- The peak --------------------------------------------------------------------------------- */

static bool
epochs_are_valid(void)
{
    const struct disk_shared *s = &state->header->shared;

    HOLDS(s->peak_epoch <= s->epoch);     // What is announced is raised too,
    HOLDS(s->snapshot_epoch <= s->epoch); // by whoever announced it.
    for (uint64_t i = 0; i < records(DISK_COUNTERS); i++)
        for (uint32_t c = 0; c < DISK_BLOCK_SITES; c++)
            HOLDS(block_at(i)->counters[c].peak_epoch <= s->epoch); // It was the present one.
    return true;
}

/* The live bytes that the counters say. */
static int64_t
live_of_counters(void)
{
    int64_t live = 0;

    for (uint64_t i = 0; i < records(DISK_COUNTERS); i++)
        for (uint32_t c = 0; c < DISK_BLOCK_SITES; c++)
            live += (int64_t)(block_at(i)->counters[c].allocated_bytes -
                              block_at(i)->counters[c].freed_bytes);
    return live;
}

bool
peak_is_valid(void)
{
    int64_t live = 0, told = 0, spare = 0;
    const struct disk_shared *s = &state->header->shared;

    for (uint32_t i = 0; i < thread_row_count(); i++) {
        const struct thread *t = state->threads[i];

        if (t == NULL)
            continue;
        live += t->live_bytes;
        told += t->told_bytes;
        spare += t->spare_bytes;
        // A part may exceed what was told by no more than what was promised.
        HOLDS(!state->multi || t->live_bytes - t->told_bytes <= t->spare_bytes ||
              t->ready == THREAD_STALE);
    }
    HOLDS(told == state->sums.told_bytes);   // A word and its sum change by the same,
    HOLDS(spare == state->sums.spare_bytes); // whoever changes them.
    HOLDS(live == live_of_counters());       // Each event changes both.
    HOLDS(s->peak_bytes <= s->most_bytes || !state->multi); // What was seen is no more than may be,
    HOLDS(live <= s->most_bytes || !state->multi);          // and live bytes never were.
    return epochs_are_valid();
}
