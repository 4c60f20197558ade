/* mem.c: mmap with the advice that mem.h promises, and the limit on the recorder's memory.
 *
 * The limit applies to memory that grows with the number of different stacks. Touched private
 * memory is measured now and then, and estimated in between from the nodes that have been added.
 * Memory that grows with the program is never refused, because the counts would then be wrong: the
 * ledger (a sixth of the heap), a row for each thread, counters of threads at known sites. All of
 * it counts towards the limit, so it makes new stacks stop earlier.
 *
 * A program may lock all future mappings (mlockall) and have a low limit on locked memory: then the
 * kernel refuses new mappings. An earlier mapping is not locked, even when it grows. So the
 * recorder keeps one page for such requests. mremap grows it by the requested size; the new part is
 * split off, and the page serves the next request.
 *
 * The kernel charges writable private memory to RLIMIT_DATA, touched or not, except for stacks.
 * Large pieces stay mostly untouched, so they are mapped like a stack (MAP_GROWSDOWN). A page
 * without access below each of them keeps it from growing.
 *
 * The memory that every start needs is one piece after the state, the pool. Separately, it would be
 * twenty mappings. Each would cost seven system calls, and a share of every fork and exit. A forked
 * child has the pool as well, wiped like the state, and starts in it again.
 *
 *     state | what dumps hold | what they do not hold ... */
#include "platform/mem.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/atomics.h"
#include "format/core_record.h"
#include "platform/memory_share.h"
#include "platform/state.h"
#include "platform/sys.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 // Linux 5.14.
#endif

enum { PAGE_BYTES = 4096, ARENA_BYTES_MIN = 96 << 20, GROW_WAITS = 1000 };
/* Pieces of at least this size are not charged to RLIMIT_DATA. */
enum { UNCHARGED_BYTES = 16 << 20 };
/* Free bytes that each part of an arena keeps at least when it is cut. */
#define ARENA_SPARE_BYTES ((uint64_t)6 << 20)
/* Maximum of a step of mem_prefault_ahead. Prefaulting a page of a file takes some two
 * microseconds, while an event waits. */
enum { STEP_BYTES_MAX = 4 << 10 };

/* Bytes at the start of the pool that every start uses. */
enum { TOUCHED_BEHIND = 3 * PAGE_BYTES };

/* Core dumps include 1/DUMPED_SHARE of an arena. That suffices for the ledger of a heap of a fifth
 * of the arena. More would enlarge the dumps of a tool that writes all zeros. */
enum { DUMPED_SHARE = 32 };

/* Size of the pool, which has room for the ledger's top level, the index of nodes, the tables of
 * heap.c and mode.c, and the first thread. Core dumps include the part for a leaf of the ledger and
 * some pages. */
#define POOL_BYTES ((size_t)160 << 20)
#define POOL_DUMPED_BYTES ((size_t)3 << 20)
static const uint64_t pool_dumped_bytes = POOL_DUMPED_BYTES;

/* NODE_PRIVATE_BYTES is an upper bound of private memory per node of the call tree.
 * NODES_UNMEASURED is the least number of nodes between two measurements. 1/KEPT_SHARE of the limit
 * is reserved for known stacks, and objects of heaps may use only half of that reserve. */
enum { NODE_PRIVATE_BYTES = 96, NODES_UNMEASURED = 2048, KEPT_SHARE = 8 };
enum { CHARGED_UNMEASURED = 1 << 20 }; // Least number of bytes charged between two measurements.

/* The next measurement is due when nodes and charges may have taken 1/UNMEASURED_SHARE of the
 * memory that is left, and have reached the least numbers above. The time for one measurement is
 * proportional to the private memory. So with a fixed distance, the time for all would grow with
 * the square of the memory. */
enum { UNMEASURED_SHARE = 8 };

/* Number of nodes, some 6 MiB, from which the default limit holds. A process with a smaller tree
 * needs no limit, and does not read the files with the machine's memory. */
enum { NODES_UNLIMITED = 1 << 16 };

/* Atomic: size of the pool behind the state; 0 = there is no pool. Forked children inherit this
 * variable, unlike the state. mem_shrink reduces it when it unmaps a part of the pool. */
static uint64_t pool_bytes;
static uint64_t pool_first_bytes; // Atomic: size of the pool in the first process.

/* Function to call when the kernel refuses memory; see mem_on_shortage. NULL = none. */
static mem_shortage_fn *on_shortage;

/* Pieces of private memory. Forked children inherit the table, to find and unmap their parent's
 * pieces. Readers of core dumps find both tables through the core record, as core_piece. */
static struct region {
    void *address; // Atomic; NULL = none.
    size_t size_bytes;
    size_t below_bytes; // Size of the page below the piece, or 0.
} regions[LIMIT_REGIONS];
static struct region singles[CORE_SINGLES]; // Other memory that dumps exclude. singles[0]: state.
static uint32_t single_count;               // Atomic. May exceed CORE_SINGLES - 1.
static_assert(sizeof(struct region) == sizeof(struct core_piece) &&
                  (int)LIMIT_REGIONS == (int)CORE_PIECES,
              "internals/core.md");
static uint32_t region_count; // Atomic. May exceed LIMIT_REGIONS.

static inline uint32_t
region_end(void)
{
    uint32_t count = load_relaxed(&region_count);

    return count < LIMIT_REGIONS ? count : LIMIT_REGIONS;
}

static void
mem_remember(void *address, size_t size_bytes, size_t below_bytes)
{
    uint32_t i = add_relaxed(&region_count, 1u);

    if (i >= LIMIT_REGIONS)
        return;
    regions[i].size_bytes = size_bytes;
    regions[i].below_bytes = below_bytes;
    store_release(&regions[i].address, address);
}

void
mem_exclude(void *address, size_t size_bytes)
{
    uint32_t i = 1 + add_relaxed(&single_count, 1u);

    sys_madvise(address, size_bytes, MADV_DONTDUMP);
    if (i >= CORE_SINGLES)
        return;
    singles[i].size_bytes = size_bytes;
    store_release(&singles[i].address, address);
}

void
mem_publish_pieces(struct core_record *r)
{
    singles[CORE_SINGLE_STATE].size_bytes = round_up(sizeof *state, PAGE_BYTES);
    store_release(&singles[CORE_SINGLE_STATE].address, (void *)state);
    r->pieces = (uintptr_t)regions;
    r->singles = (uintptr_t)singles;
}

/* Start to allocate from the pool, which is all zeros. */
static void
begin_pool(void)
{
    size_t first = round_up(sizeof *state, PAGE_BYTES);

    if (load_relaxed(&pool_bytes) == 0)
        return;
    state->pool = (unsigned char *)state + first;
    state->pool_end = load_relaxed(&pool_bytes);
    state->pool_used = POOL_DUMPED_BYTES;
    // Prefault these pages, because every start writes to the state and to the pages right behind
    // it. The page before the state has no access: the kernel refuses a range that includes it.
    mem_touch(state, state->pool + TOUCHED_BEHIND);
    mem_remember(state->pool, load_relaxed(&pool_bytes), 0);
}

bool
mem_start(void)
{
    void *p;

    state->first_region = region_end();
    begin_pool();
    p = mem_reserve(PAGE_BYTES);

    if (p != NULL)
        sys_madvise(p, PAGE_BYTES, MADV_DONTFORK); // A child maps another page.
    store_release(&state->growing_page, p);
    return p != NULL;
}

/* Return a mapping of SIZE_BYTES without access, which is not locked even under mlockall; NULL on
 * failure. */
static void *
grow_page(size_t size_bytes)
{
    unsigned char *page = NULL, *grown;

    // If another thread is using the page, wait until that thread has made two system calls.
    for (uint32_t i = 0; state != NULL && page == NULL && i < GROW_WAITS; i++) {
        page = __atomic_exchange_n(&state->growing_page, NULL, __ATOMIC_ACQ_REL);
        if (page == NULL)
            sys_wait(i);
    }
    if (page == NULL)
        return NULL;
    grown = sys_mremap(page, PAGE_BYTES, PAGE_BYTES + size_bytes, MREMAP_MAYMOVE, NULL);
    store_release(&state->growing_page, sys_failed(grown) ? page : grown);
    if (sys_failed(grown))
        return NULL;
    sys_madvise(grown + PAGE_BYTES, size_bytes, MADV_DOFORK);
    return grown + PAGE_BYTES;
}

/* Return SIZE_BYTES of address space without access, or NULL. */
static void *
map_no_access(size_t size_bytes)
{
    void *p =
        sys_mmap(NULL, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == (void *)-EAGAIN)
        p = grow_page(size_bytes);
    return p == NULL || sys_failed(p) ? NULL : p;
}

/* Return the size of the page below a piece of SIZE_BYTES, which prevents the piece from growing; 0
 * if the piece needs no such page. */
static inline size_t
below_bytes(size_t size_bytes)
{
    return size_bytes >= UNCHARGED_BYTES ? PAGE_BYTES : 0;
}

static void
unmap_private(void *address, size_t size_bytes)
{
    size_t below = below_bytes(size_bytes);

    sys_munmap((unsigned char *)address - below, below + size_bytes);
}

/* Return SIZE_BYTES of address space for private memory, or NULL. */
static void *
map_piece(size_t size_bytes)
{
    size_t below = below_bytes(size_bytes);
    unsigned char *p = map_no_access(below + size_bytes);

    if (p == NULL || below == 0)
        return p;
    // This may fail, because the kernel may refuse every new mapping while the program locks its
    // memory. Then the kernel charges the piece to RLIMIT_DATA.
    sys_mmap(p + below, size_bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_GROWSDOWN | MAP_FIXED, -1, 0);
    return p + below;
}

/* Return SIZE_BYTES of new private memory, or NULL. First map it without access: otherwise the
 * kernel would touch every page if the program has called mlockall(MCL_FUTURE). */
static void *
map_private(size_t size_bytes)
{
    void *p = map_piece(size_bytes);

    if (p == NULL && on_shortage != NULL && on_shortage(size_bytes))
        p = map_piece(size_bytes);
    if (p == NULL)
        return NULL;
    sys_munlock(p, size_bytes);
    // Fail if the kernel cannot wipe the memory (Linux before 4.14): a forked child would write
    // into its parent's profile.
    if (sys_madvise(p, size_bytes, MADV_WIPEONFORK) < 0 ||
        sys_mprotect(p, size_bytes, PROT_READ | PROT_WRITE) < 0) {
        unmap_private(p, size_bytes);
        return NULL;
    }
    // Ignore errors: a kernel that lacks huge pages or these hints refuses the calls, which does no
    // harm.
    sys_madvise(p, size_bytes, MADV_NOHUGEPAGE);
    sys_madvise(p, size_bytes, MADV_DONTDUMP);
    return p;
}

static void *
map_region(size_t size_bytes)
{
    void *p = map_private(size_bytes);

    if (p != NULL)
        mem_remember(p, size_bytes, below_bytes(size_bytes));
    return p;
}

struct state *
mem_new_state(bool pooled, uint64_t *ret_pool_bytes)
{
    size_t first = round_up(sizeof(struct state), PAGE_BYTES);
    unsigned char *p = pooled ? map_private(first + POOL_BYTES) : NULL;

    *ret_pool_bytes = p != NULL ? POOL_BYTES : 0;
    if (p == NULL)
        return map_private(first);
    sys_madvise(p + first, POOL_DUMPED_BYTES, MADV_DODUMP);
    return (struct state *)(void *)p;
}

void
mem_take_state(uint64_t new_pool_bytes)
{
    store_relaxed(&pool_bytes, new_pool_bytes);
    store_relaxed(&pool_first_bytes, new_pool_bytes);
}

void
mem_free_state(struct state *unused, uint64_t its_pool_bytes)
{
    unmap_private(unused, round_up(sizeof *unused, PAGE_BYTES) + its_pool_bytes);
}

void
mem_wipe_pool(void)
{
    uint64_t size_bytes = load_relaxed(&pool_bytes);

    if (size_bytes != 0)
        sys_madvise((unsigned char *)state + round_up(sizeof *state, PAGE_BYTES), size_bytes,
                    MADV_DONTNEED);
}

bool
mem_use_arena(uint64_t max_bytes)
{
    for (uint64_t size_bytes = round_down(max_bytes, PAGE_BYTES); size_bytes >= ARENA_BYTES_MIN;
         size_bytes = round_down(size_bytes / 2, PAGE_BYTES)) {
        state->arena = map_region(size_bytes);
        if (state->arena != NULL) {
            state->arena_bytes = size_bytes;
            state->dumped_bytes = round_down(size_bytes / DUMPED_SHARE, PAGE_BYTES);
            state->arena_used = state->arena_first = state->dumped_bytes;
            sys_madvise(state->arena, state->dumped_bytes, MADV_DODUMP);
            return true;
        }
    }
    return false;
}

/* Take SIZE_BYTES from the part of PIECE that ends at offset *END and is used up to offset *USED.
 * Return NULL if there is no room. */
static void *
take_from(unsigned char *piece, uint64_t *used, const uint64_t *end, size_t size_bytes)
{
    uint64_t off = load_acquire(used);

    // Never raise *USED above *END, so that *USED cannot wrap however often this fails. Read *END
    // after *USED, because cut_arena changes both.
    do {
        uint64_t last = load_relaxed(end);

        if (off > last || size_bytes > last - off)
            return NULL;
    } while (!cas_acq_rel(used, &off, off + size_bytes));
    return piece + off;
}

void *
mem_private(size_t size_bytes)
{
    size_t whole = round_up(size_bytes, PAGE_BYTES);
    void *p = NULL;

    if (state != NULL && state->arena != NULL)
        return take_from(state->arena, &state->arena_used, &state->arena_bytes, whole);
    if (state != NULL && state->pool != NULL)
        p = take_from(state->pool, &state->pool_used, &pool_bytes, whole);
    return p != NULL ? p : map_region(whole);
}

void *
mem_lasting(size_t size_bytes)
{
    size_t whole = round_up(size_bytes, PAGE_BYTES);
    void *p;

    if (state != NULL && state->arena != NULL)
        return take_from(state->arena, &state->arena_used, &state->arena_bytes, whole);
    p = map_private(whole);
    if (p != NULL)
        mem_exclude(p, whole);
    return p;
}

void *
mem_dumped(size_t size_bytes)
{
    size_t whole = round_up(size_bytes, PAGE_BYTES);
    void *p = NULL;

    // Take memory from the arena or the pool, because the process may forbid system calls later.
    if (state != NULL && state->arena != NULL)
        p = take_from(state->arena, &state->dumped_used, &state->dumped_bytes, whole);
    else if (state != NULL && state->pool != NULL)
        p = take_from(state->pool, &state->dumped_used, &pool_dumped_bytes, whole);
    if (p != NULL)
        return p;
    p = mem_private(whole);
    if (p != NULL)
        sys_madvise(p, whole, MADV_DODUMP);
    return p;
}

void *
mem_reserve(size_t size_bytes)
{
    void *p = sys_mmap(NULL, round_up(size_bytes, PAGE_BYTES), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (sys_failed(p))
        return NULL;
    sys_munlock(p, round_up(size_bytes, PAGE_BYTES));
    return p;
}

bool
mem_populate(void *address, size_t size_bytes)
{
    return sys_mprotect(address, size_bytes, PROT_READ | PROT_WRITE) == 0;
}

void
mem_touch(const void *start, const void *end)
{
    uintptr_t from = (uintptr_t)start & ~(uintptr_t)(PAGE_BYTES - 1);
    uintptr_t to = (uintptr_t)end & ~(uintptr_t)(PAGE_BYTES - 1);

    if (from < to)
        sys_madvise((void *)from, to - from, MADV_POPULATE_WRITE);
}

bool
mem_is_mapped(const void *address)
{
    const void *page = (const void *)((uintptr_t)address & ~(uintptr_t)(PAGE_BYTES - 1));
    unsigned char current = 0;

    return sys_mincore(page, PAGE_BYTES, &current) == 0 && (current & 1) != 0;
}

void
mem_prefault_ahead(const void *base, uint64_t *made, uint64_t end_bytes, uint64_t limit_bytes)
{
    uint64_t old = load_relaxed(made), step = end_bytes / 2, end;

    if (step > STEP_BYTES_MAX)
        step = STEP_BYTES_MAX;
    end = round_up(end_bytes + step, PAGE_BYTES);
    if (end > limit_bytes)
        end = limit_bytes;
    // If the step is only the first page, leave it to a page fault: it may never be used.
    if (end > old && cas_acq_rel(made, &old, end) && end > PAGE_BYTES)
        mem_touch((const char *)base + old, (const char *)base + end);
}

static bool
in_piece(const void *address, const unsigned char *piece, uint64_t size_bytes)
{
    return piece != NULL && (uintptr_t)address - (uintptr_t)piece < size_bytes;
}

/* Return true if ADDRESS lies in the pool, or in the part of it that a parent has unmapped. */
static inline bool
in_pool(const void *address)
{
    return in_piece(address, (unsigned char *)state + round_up(sizeof *state, PAGE_BYTES),
                    load_relaxed(&pool_first_bytes));
}

/* Unmap the pieces with an index below END, except those in the pool and the one that contains
 * KEPT. Return true if there were any. */
static bool
unmap_regions(uint32_t end, const void *kept)
{
    bool any = false;

    for (uint32_t i = 0; i < end; i++) {
        struct region *r = &regions[i];
        unsigned char *address = load_acquire(&r->address);

        if (address == NULL || in_pool(address) || in_piece(kept, address, r->size_bytes) ||
            !cas_acq_rel(&r->address, (void **)(void *)&address, NULL))
            continue;
        sys_munmap(address - r->below_bytes, r->below_bytes + r->size_bytes);
        any = true;
    }
    return any;
}

bool
mem_drop_parents(const void *kept)
{
    return unmap_regions(
        load_acquire(&state->ready) == READY_YES ? state->first_region : region_end(), kept);
}

void
mem_release_all(void)
{
    unmap_regions(region_end(), NULL);
    state->arena = state->pool = NULL;
    mem_drop_pool(NULL, 0); // This includes a pool that a forked child has inherited and not begun
                            // to use.
    if (load_relaxed(&state->growing_page) != NULL)
        sys_munmap(load_relaxed(&state->growing_page), PAGE_BYTES);
    store_relaxed(&state->growing_page, NULL);
}

void
mem_release(void *address, size_t size_bytes)
{
    if (state != NULL && (in_piece(address, state->arena, state->arena_bytes) ||
                          in_piece(address, state->pool, state->pool_end)))
        return; // The piece cannot be reused, because it may contain data. Only a rare race leads
                // here.
    for (uint32_t i = 0; i < region_end(); i++)
        if (load_relaxed(&regions[i].address) == address)
            store_relaxed(&regions[i].address, NULL);
    unmap_private(address, round_up(size_bytes, PAGE_BYTES));
}

void *
mem_once(void *place, void *(*make)(size_t), size_t size_bytes, bool *ret_new)
{
    void **at = place;
    void *current = load_acquire(at), *made;
    bool ours;

    if (ret_new != NULL)
        *ret_new = false;
    if (likely(current != NULL) || (made = make(size_bytes)) == NULL)
        return current;
    ours = cas_acq_rel(at, &current, made);
    if (!ours)
        mem_release(made, size_bytes);
    if (ret_new != NULL)
        *ret_new = ours;
    return ours ? made : current;
}

void
mem_on_shortage(mem_shortage_fn *f)
{
    on_shortage = f;
}

/* Remove [START, END) from the pieces that mem_measure includes. */
static void
remove_part(unsigned char *start, unsigned char *end)
{
    for (uint32_t i = state->first_region; i < region_end(); i++) {
        unsigned char *address = load_relaxed(&regions[i].address);
        size_t size_bytes = regions[i].size_bytes;

        if (address == NULL || (size_t)(start - address) >= size_bytes)
            continue;
        regions[i].size_bytes = (size_t)(start - address);
        if (end < address + size_bytes)
            mem_remember(end, (size_t)(address + size_bytes - end), 0);
        return;
    }
}

void
mem_shrink(void *piece, uint64_t size_bytes, uint64_t keep_bytes)
{
    unsigned char *start = (unsigned char *)piece + round_up(keep_bytes, PAGE_BYTES);
    unsigned char *end = (unsigned char *)piece + round_up(size_bytes, PAGE_BYTES);

    if (start >= end)
        return;
    // Children may use the pool only up to its first missing part.
    if (in_piece(piece, state->pool, state->pool_end) &&
        (uint64_t)(start - state->pool) < load_relaxed(&pool_bytes))
        store_relaxed(&pool_bytes, (uint64_t)(start - state->pool));
    remove_part(start, end);
    sys_munmap_always(start, (size_t)(end - start));
}

/* Unmap free memory of the part of the arena that ends at offset *END and is used up to offset
 * *USED. Keep SPARE_BYTES of the free memory. Return the number of free bytes that remain. */
static uint64_t
cut_arena(uint64_t *used, uint64_t *end, uint64_t spare_bytes)
{
    uint64_t old_end = load_relaxed(end);
    uint64_t old_used = __atomic_exchange_n(used, old_end, __ATOMIC_ACQ_REL);
    uint64_t new_end = old_used + round_up(spare_bytes, PAGE_BYTES);

    if (new_end < old_end) {
        remove_part(state->arena + new_end, state->arena + old_end);
        sys_munmap_always(state->arena + new_end, old_end - new_end);
        store_relaxed(end, new_end);
        old_end = new_end;
        // A thread that has read the old end must fail, so the counter must change.
        old_used += PAGE_BYTES;
    }
    store_release(used, old_used);
    return old_end - old_used;
}

uint64_t
mem_arena_taken(void)
{
    return state->arena == NULL ? 0
                                : load_relaxed(&state->dumped_used) +
                                      (load_relaxed(&state->arena_used) - state->arena_first);
}

void
mem_give_back(uint64_t spare_bytes)
{
    uint64_t half = spare_bytes / 2, used, left;

    if (state->arena != NULL) {
        // The ledger takes memory from the first part until that is full. Threads take memory from
        // the second part.
        left = cut_arena(&state->dumped_used, &state->dumped_bytes,
                         half > ARENA_SPARE_BYTES ? half : ARENA_SPARE_BYTES);
        left = left < spare_bytes ? spare_bytes - left : 0;
        cut_arena(&state->arena_used, &state->arena_bytes,
                  left > ARENA_SPARE_BYTES ? left : ARENA_SPARE_BYTES);
        return;
    }
    if (state->pool == NULL)
        return;
    used = __atomic_exchange_n(&state->pool_used, state->pool_end, __ATOMIC_ACQ_REL);
    if (used < state->pool_end)
        mem_shrink(state->pool + used, state->pool_end - used, 0);
}

void
mem_drop_pool(const void *kept, size_t kept_bytes)
{
    uint64_t size_bytes = __atomic_exchange_n(&pool_bytes, UINT64_C(0), __ATOMIC_ACQ_REL);
    uint64_t start = (uint64_t)(uintptr_t)state + round_up(sizeof *state, PAGE_BYTES);
    uint64_t end = start + size_bytes;
    uint64_t low = round_down((uint64_t)(uintptr_t)kept, PAGE_BYTES);
    uint64_t high = round_up((uint64_t)(uintptr_t)kept + kept_bytes, PAGE_BYTES);

    if (low >= start && high <= end) {
        if (low > start)
            sys_munmap((void *)start, low - start);
        start = high;
    }
    if (start < end)
        sys_munmap((void *)start, end - start);
}

uint64_t
mem_pool_bytes(void)
{
    return load_relaxed(&pool_bytes);
}

/* The limit that was requested; 0 = the default. A process constant, so forked children inherit it,
 * unlike the state. */
static uint64_t limit_wanted;

static void
limit_to(uint64_t max_bytes)
{
    store_relaxed(&state->memory_limit, max_bytes);
    store_relaxed(&state->header->limit_bytes, max_bytes);
}

void
mem_set_limit(uint64_t max_bytes)
{
    store_relaxed(&limit_wanted, max_bytes);
    limit_to(max_bytes);
}

void
mem_limit_again(void)
{
    limit_to(load_relaxed(&limit_wanted));
}

/* Set the default limit if the tree has become large and there is no limit yet. With a reserve (a
 * file of fixed size) there is always a limit. */
static void
limit_by_default(void)
{
    uint32_t idle = 0;

    if (load_relaxed(&state->memory_limit) != 0 || sys_is_quiet() ||
        load_relaxed(&state->tables[DISK_NODES].used) < NODES_UNLIMITED ||
        !cas_acq_rel(&state->limit_sought, &idle, 1u))
        return;
    limit_to(memory_share());
    store_release(&state->limit_sought, 0u);
}

/* Return the number of nodes added since the last measurement. */
static uint64_t
nodes_added(void)
{
    return load_relaxed(&state->tables[DISK_NODES].used) - load_relaxed(&state->nodes_counted);
}

/* Return the bytes charged since the last measurement; 0 if more charges than that were undone
 * since. */
static uint64_t
charged_since(void)
{
    uint64_t charged = load_relaxed(&state->charged);
    int64_t since = (int64_t)(charged - load_relaxed(&state->charged_counted));

    return since > 0 ? (uint64_t)since : 0;
}

uint64_t
mem_left(void)
{
    uint64_t limit = load_relaxed(&state->memory_limit), used;

    if (likely(limit == 0))
        return UINT64_MAX;
    used = load_relaxed(&state->file_end) + load_relaxed(&state->header->recorder_bytes) +
           nodes_added() * NODE_PRIVATE_BYTES + charged_since();
    return used < limit ? limit - used : 0;
}

bool
mem_charge(uint64_t size_bytes)
{
    uint64_t kept = load_relaxed(&state->memory_limit) / (2 * KEPT_SHARE);

    // Charge before the check, so that threads that charge at the same time see each other's
    // charges.
    add_relaxed(&state->charged, size_bytes);
    if (likely(mem_left() >= kept))
        return true;
    mem_uncharge(size_bytes);
    return false;
}

void
mem_uncharge(uint64_t size_bytes)
{
    add_relaxed(&state->charged, 0 - size_bytes);
}

bool
mem_is_full(void)
{
    return mem_left() < load_relaxed(&state->memory_limit) / KEPT_SHARE;
}

bool
mem_is_used_up(void)
{
    return mem_left() < load_relaxed(&state->memory_limit) / (2 * KEPT_SHARE);
}

/* Return the number of odd bytes among COUNT bytes. COUNT is a multiple of 8. */
static uint64_t
count_odd(const unsigned char *bytes, uint64_t count)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t odd = 0;

    for (uint64_t i = 0; i < count; i += sizeof odd) {
        uint64_t eight;

        memcpy(&eight, bytes + i, sizeof eight);
        odd += (eight & ones) * ones >> 56;
    }
    return odd;
}

/* Return the resident bytes of private memory. PRESENT is scratch. */
static uint64_t
resident_bytes(unsigned char present[MEM_RESIDENT_PAGES])
{
    uint64_t pages = 0;

    if (sys_is_quiet())
        return state->header->recorder_bytes;
    for (uint32_t i = state->first_region; i < region_end(); i++) {
        const unsigned char *address = load_acquire(&regions[i].address);
        uint64_t left = address != NULL ? regions[i].size_bytes / PAGE_BYTES : 0;

        while (left > 0) {
            uint64_t some = left < MEM_RESIDENT_PAGES ? left : MEM_RESIDENT_PAGES;

            if (sys_mincore(address, some * PAGE_BYTES, present) == 0) {
                for (uint64_t k = some; k % 8 != 0; k++)
                    present[k] = 0;
                pages += count_odd(present, round_up(some, 8));
            }
            address += some * PAGE_BYTES;
            left -= some;
        }
    }
    return pages * PAGE_BYTES;
}

/* Return true if the next measurement is due, because enough memory has been added since the last
 * one. */
static bool
is_measure_due(void)
{
    uint64_t unmeasured = load_relaxed(&state->unmeasured_bytes);
    uint64_t nodes = nodes_added(), charged = charged_since();

    return (nodes >= NODES_UNMEASURED && nodes * NODE_PRIVATE_BYTES >= unmeasured) ||
           (charged >= CHARGED_UNMEASURED && charged >= unmeasured);
}

void
mem_measure(bool due, unsigned char buffer[MEM_RESIDENT_PAGES])
{
    if (due && load_relaxed(&state->memory_limit) == 0)
        limit_by_default();
    if (due && (load_relaxed(&state->memory_limit) == 0 || !is_measure_due()))
        return;
    store_relaxed(&state->nodes_counted, load_relaxed(&state->tables[DISK_NODES].used));
    store_relaxed(&state->charged_counted, load_relaxed(&state->charged));
    store_relaxed(&state->header->recorder_bytes, resident_bytes(buffer));
    if (load_relaxed(&state->memory_limit) != 0)
        store_relaxed(&state->unmeasured_bytes, mem_left() / UNMEASURED_SHARE);
}
