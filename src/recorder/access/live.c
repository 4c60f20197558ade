/* live.c: merging the blocks that live.
 *
 * The ledger knows them. Each is added to the live records of its site as if it ended now, and gets
 * a mark, so that when it ends it goes to the late records: there what a view of the merge has of
 * it already is kept apart (docs/format.md, 4.16). A mark is a byte for each 16 bytes of heap, in
 * memory that is there only once there was a merge.
 *
 * Other threads go on meanwhile. A block may be freed, and its memory given back to the kernel,
 * while it is looked at; so where there are other threads what stands in the program's memory, its
 * size and its facts, is read by a system call that fails where there is nothing, and the ledger is
 * asked again afterwards. Counters are ours and always there. What a block had come to is that of
 * some moment during the merge. One that ends in just that moment may be counted both as live and
 * as ended.
 */
#include "access/live.h"

#include <sys/syscall.h>
#include <sys/uio.h>

#include "access/carries.h"
#include "access/facts.h"
#include "access/shadow.h"
#include "account/ledger.h"
#include "account/ledger_side.h"
#include "base/atomics.h"
#include "format/core_record.h"
#include "platform/arch_x86_64.h"
#include "platform/mem.h"
#include "platform/sys.h"

/* A walk over the blocks that live. */
struct walk {
    uint64_t merge; // 0 = they are to begin anew.
    uint8_t mark;
    uint64_t now;
    bool alone; // No other thread changes anything.
};

static inline uint8_t
mark_of(uint64_t merge)
{
    return (uint8_t)(merge % 255 + 1);
}

static inline uint64_t
late_part(uint64_t merge)
{
    return merge % 2 == 0 ? DISK_ACCESS_LATE_0 : DISK_ACCESS_LATE_1;
}

COLD enum disk_access_part
live_part_seen(uint8_t *seen)
{
    uint64_t merge = load_acquire(&access_counting()->merge);
    uint8_t mark = load_relaxed(seen);

    store_relaxed(seen, (uint8_t)0);
    // The next one may be under way.
    for (uint64_t m = merge; m <= merge + 1; m++)
        if (mark == mark_of(m))
            return (enum disk_access_part)late_part(m);
    return DISK_ACCESS_ENDED;
}

/* The word at ADDRESS; false if there is none. */
static bool
read_word(const struct walk *w, uintptr_t address, uint64_t *ret_word)
{
    struct iovec here = {ret_word, sizeof *ret_word};
    struct iovec there = {(void *)address, sizeof *ret_word};

    if (w->alone) {
        *ret_word = *(const uint64_t *)address;
        return true;
    }
    return arch_syscall(SYS_process_vm_readv, sys_getpid(), (long)&here, 1, (long)&there, 1, 0) ==
           (long)sizeof *ret_word;
}

/* The mark of the block at P, made if there is no room for it yet; NULL without memory. */
static uint8_t *
seen_make(uintptr_t p)
{
    uint8_t *none = NULL, *leaf;

    if (access_state->seen == NULL) {
        uint8_t **top = mem_private(sizeof *top << (ARCH_ADDRESS_BITS - LIVE_SPAN_BITS));

        if (top == NULL)
            return NULL;
        store_release(&access_state->seen, top);
    }
    if (load_acquire(&access_state->seen[p >> LIVE_SPAN_BITS]) == NULL) {
        leaf = mem_private((size_t)1 << (LIVE_SPAN_BITS - LIVE_SHIFT));
        if (leaf == NULL || !cas_acq_rel(&access_state->seen[p >> LIVE_SPAN_BITS], &none, leaf))
            return NULL;
    }
    return live_seen(p);
}

/* Where the facts of block P of SIZE_BYTES are; 0 if it has none. */
static uintptr_t
facts_place(const struct walk *w, uintptr_t p, uint64_t size_bytes)
{
    uint64_t word;

    if (w->alone || state->usable != USABLE_GLIBC)
        return (uintptr_t)facts_of((void *)p, size_bytes);
    if ((p & 7) != 0 || !read_word(w, p - sizeof word, &word) ||
        facts_end(size_bytes) > facts_glibc_usable(word))
        return 0;
    return p + round_up(size_bytes, FACTS_BYTES);
}

/* The block P lives. ENTRY, which says so, is at SLOT, NULL if it says no more than that. */
static void
merge_block(const struct walk *w, uintptr_t p, uint64_t size_bytes, uint32_t site,
            const uint32_t *slot, uint32_t entry)
{
    struct access_block b = {.p = p, .size_bytes = size_bytes};
    uintptr_t facts = facts_place(w, p, size_bytes);
    uint64_t began = 0;
    uint8_t *seen;

    if (!shadow_has(p, size_bytes)) {
        access_add(&access_counting()->outside_blocks, 1);
        return;
    }
    if (w->merge == 0) {
        shadow_clear(p, size_bytes);
        if (w->alone && facts != 0)
            *(uint64_t *)facts = w->now;
        return;
    }
    if (facts != 0 && !read_word(w, facts, &began))
        return; // Its memory is gone.
    seen = seen_make(p);
    if (seen == NULL) {
        access_add(&access_counting()->unmerged_blocks, 1);
        return;
    }
    store_relaxed(seen, w->mark);
    if (slot != NULL && load_seq_cst(slot) != entry) {
        store_relaxed(seen, (uint8_t)0);
        return;
    }
    live_date(&b, began, w->now);
    records_read(&b);
    records_add(&b, site & LEDGER_SITE_MASK,
                w->merge % 2 == 0 ? DISK_ACCESS_LIVE_0 : DISK_ACCESS_LIVE_1, w->merge);
}

static void
walk_leaf(const struct walk *w, uintptr_t span, const uint32_t *leaf)
{
    size_t count = (size_t)1 << (LEDGER_SPAN_BITS - state->granule_shift);

    for (size_t i = 0; i < count; i++) {
        uint32_t entry = load_relaxed(&leaf[i]);
        uintptr_t p = span + (i << state->granule_shift) +
                      (entry >> (LEDGER_SUB_SHIFT - 3) & 24);
        uint64_t word;

        if (!ledger_is_live(entry) || entry >> LEDGER_SLACK_SHIFT == LEDGER_SLACK_SIDE)
            continue;
        if (state->usable == USABLE_CALL)
            word = behind_usable((void *)p);
        else if (!read_word(w, p - sizeof word, &word))
            continue;
        merge_block(w, p, (word & ~UINT64_C(7)) - (entry >> LEDGER_SLACK_SHIFT),
                    entry & LEDGER_SITE_MASK, &leaf[i], entry);
    }
}

static void
walk_side(const struct walk *w, uint32_t i)
{
    const uint64_t *table = (const uint64_t *)(const void *)load_acquire(&state->side[i]);
    const struct core_side_slot *slots = (const struct core_side_slot *)(const void *)(table + 2);

    for (uint64_t j = 0; table != NULL && j <= table[0]; j++) {
        uint64_t key = load_acquire(&slots[j].key), value = load_acquire(&slots[j].value);
        uint32_t site = (uint32_t)(value >> (64 - LEDGER_SITE_BITS)) |
                        (uint32_t)slots[j].how << LEDGER_SITE_BITS;

        // 1 is one that has gone.
        if (key > 1 && value != 0 && !ledger_is_hooked((void *)key) &&
            !ledger_is_backing((struct ledger_entry){.site = site}))
            merge_block(w, key, value & ((UINT64_C(1) << (64 - LEDGER_SITE_BITS)) - 1), site, NULL,
                        0);
    }
}

static void
walk_all(const struct walk *w)
{
    const struct core_record *r = state->core;
    uint64_t count = load_acquire(&r->leaf_count), most = CORE_CHUNKS * CORE_CHUNK_LEAVES;

    // Dumps have a list of the leaves, which is shorter than the ledger's top level.
    for (uint64_t i = 0; i < count && i < most; i++) {
        const struct core_leaf *chunk =
            (const struct core_leaf *)load_acquire(&r->leaf_chunks[i / CORE_CHUNK_LEAVES]);
        const struct core_leaf *l = chunk != NULL ? &chunk[i % CORE_CHUNK_LEAVES] : NULL;
        uint64_t leaf = l != NULL ? load_acquire(&l->leaf) : 0;

        if (leaf != 0 && l->span % (1u << CORE_SPAN_BITS) == CORE_LEAF_MALLOC)
            walk_leaf(w, l->span, (const uint32_t *)leaf);
    }
    for (uint32_t i = 0; i < countof(state->side); i++)
        walk_side(w, i);
}

static bool
take_turn(void)
{
    for (uint32_t i = 0; i < LIMIT_GROW_WAITS; i++) {
        uint32_t idle = 0;

        if (cas_acq_rel(&access_state->merging, &idle, 1u))
            return true;
        sys_wait(i);
    }
    return false;
}

bool
live_merge(enum live_merge when)
{
    struct disk_counting *c = access_counting();
    uint64_t mask = sys_block_signals();
    struct walk w;

    if (!take_turn()) {
        sys_unblock_signals(mask);
        return false;
    }
    w = (struct walk){.merge = c->merge + 1,
                      .mark = mark_of(c->merge + 1),
                      .now = cycles_now(&access_state->cycles),
                      .alone = !load_relaxed(&state->multi)};
    records_settle((enum disk_access_part)late_part(w.merge));
    walk_all(&w);
    if (when == LIVE_AT_EXIT)
        or_relaxed(&c->flags, (uint32_t)DISK_COUNTING_ENDED);
    c->lost_accesses = load_relaxed(&carries.lost) << 32;
    c->merge_ns = cycles_us(&access_state->cycles, w.now) * 1000;
    store_release(&c->merge, w.merge);
    store_release(&access_state->merging, 0u);
    sys_unblock_signals(mask);
    return true;
}

bool
live_forget(void)
{
    struct disk_counting *c = access_counting();
    uint64_t mask = sys_block_signals();
    struct walk w;

    if (!take_turn()) {
        sys_unblock_signals(mask);
        return false;
    }
    w = (struct walk){.now = cycles_now(&access_state->cycles),
                      .alone = !load_relaxed(&state->multi)};
    records_forget();
    walk_all(&w);
    c->reset_ns = cycles_us(&access_state->cycles, w.now) * 1000;
    access_add(&c->resets, 1);
    store_release(&access_state->merging, 0u);
    sys_unblock_signals(mask);
    return true;
}
