/* live.c: merges live blocks into the records.
 *
 * The ledger has all live blocks. Each is added to the live records of its site as if it ended now,
 * and gets a mark. When a marked block ends, it is added to the late records. The late records are
 * separate, because a view of the merge already includes counts of these blocks (docs/format.md,
 * 4.16). A mark is a byte for each granule of the ledger, in memory that exists only after the
 * first merge.
 *
 * There is a merge every second, so that the profile of a killed program includes the counts of its
 * live blocks up to then. The thread that allocates when a merge is due makes it, inside a call of
 * malloc. It therefore proceeds in short steps with pauses. The counts of a block are read when the
 * walk passes the block. A block allocated at an address already passed is not in this merge. A
 * block that ends before the walk reaches it is treated as if the merge had not begun. Nothing is
 * published before the end.
 *
 * Other threads run meanwhile. A block may be freed, and its memory returned to the kernel, while
 * it is read. Its size and facts are in the program's memory. So with several threads they are read
 * one page at a time, through a system call that fails on unmapped memory. The ledger is then read
 * again to confirm the block. Counters belong to the recorder and are always mapped. A block that
 * ends at that very moment may be counted both as live and as ended.
 *
 * In two cases nothing is merged from the second thread on. In the first, that system call is
 * forbidden (sys_be_quiet). In the second, only the allocator can report a block's size: it must
 * not be asked about a block that has ended. Earlier merges remain valid, and the profile has their
 * time. */
#include "access/live.h"

#include <sys/syscall.h>
#include <sys/uio.h>

#include "access/counter_overflow.h"
#include "access/facts.h"
#include "access/shadow.h"
#include "base/atomics.h"
#include "format/core_record.h"
#include "ledger/ledger.h"
#include "ledger/ledger_side.h"
#include "ledger/ledger_state.h"
#include "platform/arch_x86_64.h"
#include "platform/mem.h"
#include "platform/sys.h"

/* A walk over the live blocks of the ledger. */
struct walk {
    uint64_t merge; // Number of the merge; 0 = discard all counts instead.
    uint8_t mark;
    uint64_t now;
    bool alone; // No other thread exists.
    uint64_t stop_us; // Elapsed time at which the step ends; 0 = no limit.
    struct live_page *page; // Copy of the page of the program's memory that the walk read last.
};

enum {
    MERGE_EACH_US = 1000000,
    // Maximum duration of a step. A merge uses at most 1/STEP_SHARE of the time, and so does each
    // of its steps.
    STEP_US = 1000,
    STEP_SHARE = 20,
    PAGE_BYTES = 4096,
    PAGE_ENTRIES = PAGE_BYTES / 16,
    STEP_PAGES = 64, // Number of pages of memory to walk between two readings of the time.
};

static inline uint8_t
live_mark_of(uint64_t merge)
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
    // The mark may come from the next merge, which may already be in progress.
    for (uint64_t m = merge; m <= merge + 1; m++)
        if (mark == live_mark_of(m))
            return (enum disk_access_part)late_part(m);
    return DISK_ACCESS_ENDED;
}

static inline bool
is_alone(void)
{
    return !load_relaxed(&state->multi);
}

/* Return true if blocks can be read safely. ALONE is true if there is no other thread. */
static bool
can_look(bool alone)
{
    return alone || ledger_state()->usable == USABLE_NONE ||
           (ledger_state()->usable == USABLE_GLIBC && !sys_is_quiet());
}

/* Copy SIZE_BYTES of the program's memory at ADDRESS. Return false if the kernel refuses. */
static bool
read_memory(uintptr_t address, void *to, uint64_t size_bytes)
{
    struct iovec here = {to, size_bytes};
    struct iovec remote = {(void *)address, size_bytes};

    return arch_syscall(SYS_process_vm_readv, sys_getpid(), (long)&here, 1, (long)&remote, 1, 0) ==
           (long)size_bytes;
}

/* Read the page at ADDRESS, and the size word of a block that begins there. Return false if it is
 * unmapped. */
static bool
read_page(struct live_page *page, uintptr_t address)
{
    uint64_t size_bytes = sizeof page->words;

    page->from = address + PAGE_BYTES - size_bytes;
    page->bytes = 0;
    if (read_memory(page->from, page->words, size_bytes)) {
        page->bytes = size_bytes;
        return true;
    }
    page->from = address;
    if (!read_memory(address, page->words, PAGE_BYTES))
        return false;
    page->bytes = PAGE_BYTES;
    return true;
}

/* Read the word at ADDRESS. Return false if it is unmapped. */
static bool
live_read_word(const struct walk *w, uintptr_t address, uint64_t *ret_word)
{
    uint64_t off = address - w->page->from;

    if (w->alone) {
        *ret_word = *(const uint64_t *)address;
        return true;
    }
    if (off % sizeof *ret_word == 0 && off < w->page->bytes) {
        *ret_word = w->page->words[off / sizeof *ret_word];
        return true;
    }
    return read_memory(address, ret_word, sizeof *ret_word);
}

/* Return the address of the mark for the block at P. Create its leaf if it is missing; return NULL
 * if there is no memory. */
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
        leaf = mem_private((size_t)1 << (LIVE_SPAN_BITS - ledger_state()->granule_shift));
        if (leaf == NULL || !cas_acq_rel(&access_state->seen[p >> LIVE_SPAN_BITS], &none, leaf))
            return NULL;
    }
    return live_seen(p);
}

/* Return the address of the facts of block P of SIZE_BYTES; 0 if it has none. */
static uintptr_t
facts_place(const struct walk *w, uintptr_t p, uint64_t size_bytes)
{
    uint64_t word;

    if (w->alone || ledger_state()->usable != USABLE_GLIBC)
        return (uintptr_t)facts_of((void *)p, size_bytes);
    if ((p & 7) != 0 || !live_read_word(w, p - sizeof word, &word) ||
        facts_end(size_bytes) > facts_glibc_usable(word))
        return 0;
    return p + round_up(size_bytes, FACTS_BYTES);
}

/* Merge the live block P, whose facts are at FACTS (0 = none). Its ledger entry at SLOT had the
 * value ENTRY. Unless SLOT is NULL, read the entry again to confirm that the block is still
 * live. */
static void
merge_block(const struct walk *w, uintptr_t p, uint64_t size_bytes, uintptr_t facts, uint32_t site,
            const uint32_t *slot, uint32_t entry)
{
    struct access_block b = {.p = p, .size_bytes = size_bytes};
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
    if (facts != 0 && !live_read_word(w, facts, &began))
        return; // The block's memory is no longer mapped.
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
walk_entry(const struct walk *w, uintptr_t granule, const uint32_t *slot, uint32_t entry)
{
    uintptr_t p = granule + ledger_sub(entry);
    uint32_t site;
    uint64_t word, size_bytes;

    if (!ledger_is_live(entry) || entry >> LEDGER_KIND_SHIFT == LEDGER_KIND_SIDE)
        return;
    if (!ledger_has_slack(entry)) {
        struct ledger_entry wide = ledger_wide_block(p);

        site = wide.site;
        size_bytes = wide.size_bytes;
    } else {
        if (ledger_state()->usable == USABLE_CALL)
            word = real_usable((void *)p);
        else if (!live_read_word(w, p - sizeof word, &word))
            return;
        site = ledger_slack_site(entry);
        size_bytes = (word & ~UINT64_C(7)) - ledger_slack(entry);
    }
    merge_block(w, p, size_bytes, facts_place(w, p, size_bytes), site, slot, entry);
}

/* Merge the blocks that begin in the page at ADDRESS, whose entries begin at SLOT. */
static void
walk_page(const struct walk *w, uintptr_t address, const uint32_t *slot)
{
    uint32_t entries[PAGE_ENTRIES], count = PAGE_BYTES >> ledger_state()->granule_shift, any = 0;

    for (uint32_t i = 0; i < count; i++)
        any |= entries[i] = load_relaxed(&slot[i]);
    if (any == 0)
        return;
    // Read the page after the entries. Otherwise the page could contain a block that ended before
    // the entries were read.
    if (!w->alone && ledger_state()->usable == USABLE_GLIBC && !read_page(w->page, address))
        return;
    for (uint32_t i = 0; i < count; i++)
        if (entries[i] != 0)
            walk_entry(w, address + ((uintptr_t)i << ledger_state()->granule_shift), &slot[i],
                       entries[i]);
}

static inline bool
is_over(const struct walk *w)
{
    return w->stop_us != 0 && clock_us(&access_state->cycle_clock,
                                       clock_now(&access_state->cycle_clock)) >= w->stop_us;
}

/* Walk LEAF, the leaf of SPAN, from *PAGE on. Return false if the step ends before the end of the
 * leaf. */
static bool
walk_leaf(const struct walk *w, uintptr_t span, const uint32_t *leaf, uint32_t *page)
{
    uint32_t count = PAGE_BYTES >> ledger_state()->granule_shift;

    for (; *page < 1u << (LEDGER_SPAN_BITS - 12); ++*page) {
        if (*page % STEP_PAGES == STEP_PAGES - 1 && is_over(w))
            return false;
        walk_page(w, span + (uintptr_t)*page * PAGE_BYTES, leaf + (size_t)*page * count);
    }
    return true;
}

static void
walk_side(const struct walk *w, uint32_t i)
{
    const uint64_t *table = (const uint64_t *)(const void *)load_acquire(&ledger_state()->side[i]);
    const struct core_side_slot *slots = (const struct core_side_slot *)(const void *)(table + 2);

    for (uint64_t j = 0; table != NULL && j <= table[0]; j++) {
        uint64_t key = load_acquire(&slots[j].key), value = load_acquire(&slots[j].value);
        uint64_t size_bytes = value & ((UINT64_C(1) << (64 - LEDGER_SITE_BITS)) - 1);
        bool odd = slots[j].how >> CORE_HOW_ODD_SHIFT & 1;
        uint32_t site = (uint32_t)(value >> (64 - LEDGER_SITE_BITS)) |
                        (uint32_t)slots[j].how << LEDGER_SITE_BITS;

        // Key 0 is a free entry, and key 1 a removed one.
        if (key > 1 && value != 0 && !ledger_is_hooked((void *)key) &&
            !ledger_is_backing((struct ledger_entry){.site = site}))
            merge_block(w, key, size_bytes, odd ? 0 : facts_place(w, key, size_bytes), site, NULL,
                        0);
    }
}

/* Walk from PLACE on. Return false if the step ends before the end of the walk. */
static bool
walk_on(const struct walk *w, struct live_place *place)
{
    const struct core_record *r = ledger_state()->core;
    uint64_t count = load_acquire(&r->leaf_count), most = CORE_CHUNKS * CORE_CHUNK_LEAVES;

    // Walk the list of leaves that exists for core dumps. It is shorter than the top level of the
    // ledger.
    for (; place->leaf < count && place->leaf < most; place->leaf++, place->page = 0) {
        const struct core_leaf *chunk = (const struct core_leaf *)load_acquire(
            &r->leaf_chunks[place->leaf / CORE_CHUNK_LEAVES]);
        const struct core_leaf *l = chunk != NULL ? &chunk[place->leaf % CORE_CHUNK_LEAVES] : NULL;
        uint64_t leaf = l != NULL ? load_acquire(&l->leaf) : 0;

        if (leaf != 0 && l->span % (1u << CORE_SPAN_BITS) == CORE_LEAF_MALLOC &&
            !walk_leaf(w, l->span, (const uint32_t *)leaf, &place->page))
            return false;
    }
    w->page->bytes = 0; // The copied page may be outdated.
    for (; place->side < countof(ledger_state()->side); place->side++) {
        if (is_over(w))
            return false;
        walk_side(w, place->side);
    }
    return true;
}

static bool
live_take_turn(void)
{
    uint32_t idle = 0;

    return cas_acq_rel(&access_state->merging, &idle, 1u);
}

static bool
wait_for_turn(void)
{
    for (uint32_t i = 0; i < LIMIT_GROW_WAITS; i++) {
        if (live_take_turn())
            return true;
        sys_wait(i);
    }
    return false;
}

static uint64_t
elapsed_us(uint64_t time)
{
    return clock_us(&access_state->cycle_clock, time);
}

/* Continue the merge in progress, or begin one, for at most STEP_US. If END, ignore that limit and
 * complete the merge. The caller must have set `merging` and checked that can_look is true. */
static void
merge_on(bool alone, bool end)
{
    struct disk_counting *c = access_counting();
    struct live_merging *m = &access_state->live;
    struct walk w = {.merge = c->merge + 1,
                     .mark = live_mark_of(c->merge + 1),
                     .now = clock_now(&access_state->cycle_clock),
                     .alone = alone,
                     .page = &m->page};
    uint64_t now_us = elapsed_us(w.now), took_us;
    bool whole;

    if (!m->under_way) {
        m->under_way = true;
        m->place = (struct live_place){0};
        m->began_us = now_us;
        m->took_us = 0;
        records_flush((enum disk_access_part)late_part(w.merge));
    }
    w.stop_us = end ? 0 : now_us + STEP_US;
    m->page.bytes = 0;
    whole = walk_on(&w, &m->place);
    took_us = elapsed_us(clock_now(&access_state->cycle_clock)) - now_us;
    m->took_us += took_us;
    if (whole) {
        m->under_way = false;
        c->lost_accesses = load_relaxed(&counter_overflows.lost) << 32;
        c->merge_ns = m->began_us * 1000;
        store_release(&c->merge, w.merge);
        took_us = m->took_us;
    }
    took_us *= STEP_SHARE;
    store_relaxed(&access_state->next_step_us,
                  now_us + (whole && took_us < MERGE_EACH_US ? MERGE_EACH_US : took_us));
}

COLD void
live_step(void)
{
    bool alone = is_alone();
    uint64_t mask;

    if (!can_look(alone))
        return;
    mask = sys_block_signals();
    if (live_take_turn()) {
        // If a second thread would stop merging permanently, complete this merge.
        merge_on(alone, !can_look(false));
        store_release(&access_state->merging, 0u);
    }
    sys_unblock_signals(mask);
}

/* Prepare work that must not be interrupted by other merges: set `merging` and complete any merge
 * in progress. Return false if another thread does not finish in time, or if blocks are
 * unreadable. */
static bool
begin_whole(bool alone)
{
    if (!can_look(alone) || !wait_for_turn())
        return false;
    if (access_state->live.under_way)
        merge_on(alone, true);
    return true;
}

bool
live_merge(enum live_merge when)
{
    uint64_t mask = sys_block_signals();
    bool alone = is_alone(), begun = begin_whole(alone);

    if (begun) {
        merge_on(alone, true);
        if (when == LIVE_AT_EXIT)
            or_relaxed(&access_counting()->flags, (uint32_t)DISK_COUNTING_ENDED);
        store_release(&access_state->merging, 0u);
    }
    sys_unblock_signals(mask);
    return begun;
}

bool
live_reset(void)
{
    struct disk_counting *c = access_counting();
    uint64_t mask = sys_block_signals();
    bool alone = is_alone(), begun = begin_whole(alone);

    if (begun) {
        struct walk w = {.now = clock_now(&access_state->cycle_clock),
                         .alone = alone,
                         .page = &access_state->live.page};

        records_reset();
        walk_on(&w, &(struct live_place){0});
        c->reset_ns = elapsed_us(w.now) * 1000;
        access_add(&c->resets, 1);
        store_release(&access_state->merging, 0u);
    }
    sys_unblock_signals(mask);
    return begun;
}
