/* harness_valid.c: check that the recorder's structures are consistent, while no thread is inside
 * it.
 *
 * harness_check.c compares the finished profile with the threads' actions. This file compares the
 * recorder's structures with one another, between waves and in each child. So an error is found at
 * its source, instead of later by a wrong count:
 *
 *     ledger     every entry of the heap's area has an existing site, and each site has as many
 *                live blocks as the counters of all threads say
 *     nodes      each child of a node has it as parent; no child twice, no site twice
 *     peak       the sums equal the published bytes, and live bytes equal the counters
 *
 * Each condition is one line, as in the tools' validity functions (util/ensure.h). The tables of
 * the program's heaps are checked by unit/heap_objects and unit/heap_table. */
#include "account/account_state.h"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account/file.h"
#include "account/nodes.h"
#include "account/peak.h"
#include "account/thread.h"
#include "ledger/ledger.h"
#include "ledger/ledger_state.h"
#include "platform/state.h"
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

/* Add the blocks in the counters of all threads to LIVE, by site. */
static void
count_live(int64_t *live)
{
    for (uint64_t i = 0; i < records(DISK_COUNTERS); i++) {
        const struct disk_block *b = block_at(i);

        for (uint32_t s = 0; s < DISK_BLOCK_SITES && b->thread != 0; s++)
            if (b->first_site + s < account_state()->sites)
                live[b->first_site + s] +=
                    (int64_t)(b->counters[s].allocations - b->counters[s].frees);
    }
}

/* Subtract the ledger's blocks in [FROM, TO) from LIVE. */
static bool
entries_are_valid(uintptr_t from, uintptr_t to, int64_t *live)
{
    uintptr_t granule = (uintptr_t)1 << ledger_state()->granule_shift;

    for (uintptr_t address = from; address < to; address += granule) {
        const uint32_t *slot = ledger_slot(address);
        uint32_t site;

        if (slot == NULL || !ledger_is_live(*slot))
            continue;
        site = ledger_site((const void *)(address + ledger_sub(*slot)));
        // A site is created before its first block.
        VALID(site != 0 && site < account_state()->sites);
        live[site]--;
    }
    return true;
}

/* Check the remainder of LIVE after subtraction of the ledger: only blocks that are in the side
 * table alone, because they share a granule, may be left. */
static bool
rest_is_valid(const int64_t *live)
{
    for (uint64_t i = 0; i < account_state()->sites; i++) {
        VALID(live[i] >= 0); // Every block in the ledger was counted.
        // Every counted block is in the ledger, unless the side table is used.
        VALID(live[i] == 0 || ledger_state()->usable == USABLE_CALL);
    }
    return true;
}

bool
ledger_is_valid(void)
{
    int64_t *live = calloc(account_state()->sites, sizeof *live);
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

/* Return true if CHILD, stored with FRAME beside its id, is a valid child of PARENT. */
static bool
child_is_valid(uint32_t parent, uint32_t child, uint64_t frame)
{
    VALID(is_node(child));                       // A node is complete before its id is published.
    VALID(account_state()->nodes[child].parent == parent);
    // FRAME is stored before the insertion returns.
    VALID(account_state()->nodes[child].frame == frame);
    return true;
}

/* Check the children of NODE: the first one, and those in its cache line. */
static bool
harness_valid_children_are_valid(uint32_t node)
{
    const struct first_child *first = &account_state()->first_children[node];
    const struct children *line = &account_state()->children[first->more];

    // The cache line is used only after the first child.
    VALID(first->node != 0 || first->more == 0);
    VALID(first->more < account_state()->children_used); // A line is reserved before it is used.
    if (first->node != 0 && !child_is_valid(node, first->node, first->frame))
        return false;
    for (uint32_t i = 0; first->more != 0 && i < NODES_FANOUT && line->node[i] != 0; i++) {
        if (!child_is_valid(node, line->node[i], line->frame[i]))
            return false;
        VALID(line->frame[i] != first->frame); // The frames of a node's children differ.
        for (uint32_t k = 0; k < i; k++)
            VALID(line->frame[i] != line->frame[k]);
    }
    for (uint32_t i = 1; first->more != 0 && i < NODES_FANOUT; i++)
        VALID(line->node[i] == 0 || line->node[i - 1] != 0); // A line is filled from the front.
    return true;
}

/* Check the record of NODE and mark its sites in TAKEN, which has an entry for each site. */
static bool
node_is_valid(uint32_t node, bool *taken)
{
    const struct disk_node *n = &account_state()->nodes[node];

    VALID(n->frame != 0 || node == DISK_NODE_OTHER);    // A node in the table has a frame.
    VALID(n->parent < node || node == DISK_NODE_OTHER); // A node's parent was created before it.
    for (uint32_t c = 0; c < DISK_SIZE_CLASSES; c++) {
        if (n->site[c] == 0)
            continue;
        VALID(n->site[c] < account_state()->sites); // A site id is reserved before use.
        VALID(!taken[n->site[c]]);        // A site belongs to one node.
        taken[n->site[c]] = true;
    }
    return true;
}

bool
nodes_are_valid(void)
{
    bool *taken = calloc(account_state()->sites, sizeof *taken);
    bool valid = node_is_valid(DISK_NODE_OTHER, taken);

    for (uint32_t i = DISK_NODE_FIRST; i < records(DISK_NODES) && valid; i++)
        valid = node_is_valid(i, taken);
    valid = valid && harness_valid_children_are_valid(DISK_NODE_ROOT);
    for (uint32_t i = DISK_NODE_FIRST; i < records(DISK_NODES) && valid; i++)
        valid = harness_valid_children_are_valid(i);
    free(taken);
    return valid;
}

/* --- The peak --------------------------------------------------------------------------------- */

static bool
epochs_are_valid(void)
{
    const struct disk_shared *s = &state->header->shared;

    VALID(s->peak_epoch <= s->epoch);     // No epoch is announced before it was raised.
    VALID(s->snapshot_epoch <= s->epoch);
    for (uint64_t i = 0; i < records(DISK_COUNTERS); i++)
        for (uint32_t c = 0; c < DISK_BLOCK_SITES; c++)
            VALID(block_at(i)->counters[c].peak_epoch <= s->epoch);
    return true;
}

/* Return an array by site: true if the site backs a heap of the program and is therefore in no
 * total. */
static bool *
find_backing(void)
{
    bool *backing = calloc(account_state()->sites + DISK_BLOCK_SITES, sizeof *backing);

    for (uint32_t i = DISK_NODE_FIRST; i < records(DISK_NODES); i++) {
        const struct disk_node *n = &account_state()->nodes[i];

        for (uint32_t c = 0; c < DISK_SIZE_CLASSES; c++)
            if (n->flags & DISK_NODE_TAG && n->frame >> DISK_ADDRESS_BITS == DISK_TAG_BACKING)
                backing[n->site[c]] = true;
    }
    backing[0] = false;
    return backing;
}

/* Return the live bytes according to the counters. */
static int64_t
live_of_counters(void)
{
    bool *backing = find_backing();
    int64_t live = 0;

    for (uint64_t i = 0; i < records(DISK_COUNTERS); i++) {
        const struct disk_block *b = block_at(i);

        for (uint32_t c = 0; c < DISK_BLOCK_SITES; c++)
            if (b->thread != 0 && !backing[b->first_site + c])
                live += (int64_t)(b->counters[c].allocated_bytes - b->counters[c].freed_bytes);
    }
    free(backing);
    return live;
}

bool
peak_is_valid(void)
{
    int64_t live = 0, published = 0, slack = 0;
    const struct disk_shared *s = &state->header->shared;

    for (uint32_t i = 0; i < thread_row_count(); i++) {
        const struct thread *t = account_state()->threads[i];

        if (t == NULL)
            continue;
        live += t->live_bytes;
        published += t->published_bytes;
        slack += t->slack_bytes;
        // A thread's live bytes exceed its published bytes by at most its slack.
        VALID(!state->multi || t->live_bytes - t->published_bytes <= t->slack_bytes ||
              t->ready == THREAD_STALE);
    }
    // A thread's word and the sum change by the same amount.
    VALID(published == account_state()->sums.published_bytes);
    VALID(slack == account_state()->sums.slack_bytes);
    VALID(live == live_of_counters());       // Each event changes both.
    VALID(s->peak_bytes <= s->bound_bytes || !state->multi); // The known peak is within its bound.
    VALID(live <= s->bound_bytes || !state->multi);          // Live bytes never exceed the bound.
    return epochs_are_valid();
}

/* --- Each promise can be broken --------------------------------------------------------------- */

/* Return true if IS_VALID fails because of CONDITION while the word at WORD has VALUE. */
static int
notices(bool (*is_valid)(void), uint64_t *word, uint64_t value, const char *condition)
{
    uint64_t was = *word;
    bool noticed;

    *word = value;
    noticed = !is_valid() && strncmp(ensure_broken_text(), condition, strlen(condition)) == 0;
    *word = was;
    if (!noticed)
        printf("not noticed: %s; broken is %s\n", condition, ensure_broken_text());
    return noticed ? 0 : 1;
}

/* Like notices, for a word of 32 bits. */
static int
notices_half(bool (*is_valid)(void), uint32_t *half, uint32_t value, const char *condition)
{
    uint32_t was = *half;
    bool noticed;

    *half = value;
    noticed = !is_valid() && strncmp(ensure_broken_text(), condition, strlen(condition)) == 0;
    *half = was;
    if (!noticed)
        printf("not noticed: %s; broken is %s\n", condition, ensure_broken_text());
    return noticed ? 0 : 1;
}

static uint32_t *
live_slot(void)
{
    uintptr_t from, to;
    uint32_t *slot;

    heap_area(&from, &to);
    for (; from < to; from += (uintptr_t)1 << ledger_state()->granule_shift)
        if ((slot = ledger_slot(from)) != NULL && ledger_is_live(*slot))
            return slot;
    abort();
}

/* Return a node with at least two children in its cache line. */
static uint32_t
node_with_line(void)
{
    for (uint32_t i = DISK_NODE_FIRST; i < records(DISK_NODES); i++)
        if (account_state()->children[account_state()->first_children[i].more].node[1] != 0)
            return i;
    abort();
}

static int
ledger_notices(void)
{
    struct disk_counter *c = (struct disk_counter *)(uintptr_t)&block_at(0)->counters[0];
    uint32_t *slot = live_slot();
    int bad = notices_half(ledger_is_valid, slot, *slot | LEDGER_PACKED_SITE_MASK, "site != 0");

    bad += notices_half(ledger_is_valid, slot, 1, "live[i] >= 0");
    bad += notices(ledger_is_valid, &c->frees, c->allocations + 1, "live[i] >= 0");
    if (ledger_state()->usable != USABLE_CALL)
        bad += notices_half(ledger_is_valid, slot, 0, "live[i] == 0");
    return bad;
}

static int
nodes_notice(void)
{
    struct first_child *first = &account_state()->first_children[node_with_line()];
    struct children *line = &account_state()->children[first->more];
    // This child is in the tree: its insertion lost no race.
    struct disk_node *child = &account_state()->nodes[line->node[1]];
    uint64_t was = child->frame;
    int bad = 0;

    bad += notices_half(nodes_are_valid, &first->node, 0, "first->node != 0 || first->more == 0");
    bad += notices_half(nodes_are_valid, &first->node, UINT32_MAX, "is_node(child)");
    bad +=
        notices(nodes_are_valid, &first->frame, 1, "account_state()->nodes[child].frame == frame");
    bad += notices(nodes_are_valid, &account_state()->children_used, 1,
                   "first->more < account_state()->children_used");
    bad += notices_half(nodes_are_valid, &line->node[0], 0, "line->node[i] == 0 ||");
    bad += notices(nodes_are_valid, &child->frame, 0, "n->frame != 0");
    bad += notices_half(nodes_are_valid, &child->parent, UINT32_MAX, "n->parent < node");
    bad += notices_half(nodes_are_valid, &child->parent, 1,
                        "account_state()->nodes[child].parent == parent");
    bad += notices_half(nodes_are_valid, &child->site[0], UINT32_MAX,
                        "n->site[c] < account_state()->sites");
    bad += notices_half(nodes_are_valid, &child->site[0], 1, "!taken[n->site[c]]");
    child->frame = line->frame[0];
    bad +=
        notices(nodes_are_valid, &line->frame[1], child->frame, "line->frame[i] != line->frame[k]");
    child->frame = first->frame;
    bad +=
        notices(nodes_are_valid, &line->frame[1], child->frame, "line->frame[i] != first->frame");
    child->frame = was;
    return bad;
}

static int
peak_notices(void)
{
    struct disk_counter *c = (struct disk_counter *)(uintptr_t)&block_at(0)->counters[0];
    struct disk_shared *s = &state->header->shared;
    struct thread *t = account_state()->threads[1];
    int64_t *published = &account_state()->sums.published_bytes;
    int64_t *slack = &account_state()->sums.slack_bytes;
    int64_t peak_bytes = s->peak_bytes;
    uint32_t ready = t->ready;
    int bad = 0;

    bad += notices(peak_is_valid, (uint64_t *)published, 1, "published ==");
    bad += notices(peak_is_valid, (uint64_t *)slack, 1, "slack ==");
    bad += notices(peak_is_valid, &c->allocated_bytes, c->allocated_bytes + 1, "live ==");
    bad += notices(peak_is_valid, &s->peak_epoch, s->epoch + 1, "s->peak_epoch <= s->epoch");
    bad += notices(peak_is_valid, &s->snapshot_epoch, s->epoch + 1, "s->snapshot_epoch <=");
    bad += notices(peak_is_valid, &c->peak_epoch, s->epoch + 1, "block_at(i)->counters[c]");
    if (!state->multi)
        return bad;
    bad += notices(peak_is_valid, (uint64_t *)&s->peak_bytes, INT64_MAX, "s->peak_bytes <=");
    s->peak_bytes = INT64_MIN;
    bad += notices(peak_is_valid, (uint64_t *)&s->bound_bytes, (uint64_t)INT64_MIN, "live <=");
    s->peak_bytes = peak_bytes;
    t->ready = THREAD_READY;
    bad += notices(peak_is_valid, (uint64_t *)&t->live_bytes, INT64_MAX / 2, "!state->multi ||");
    t->ready = ready;
    return bad;
}

int
check_validity(void)
{
    return ledger_notices() + nodes_notice() + peak_notices();
}
