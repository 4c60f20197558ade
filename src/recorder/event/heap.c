/* heap.c: records blocks of the program's own heaps.
 *
 * Each heap of the program is an *instance* here; the program may create millions, one for each
 * request. The profile has only names. A block is charged to the stack that called, without the
 * allocator's own frames, and below that to a tag with the heap's record. The tag is a node with
 * sites and counters like any other, so every table shows it.
 *
 *     handle ──► instance ─┬► objects: address -> site, count, bytes      (heap_objects.c)
 *     (heap_instance.c)    └► lives: site -> live count, live bytes       (heap_table.c)
 *
 * An instance has live values per site. So a reset ends a million blocks in one step per site, even
 * if their addresses are not recorded. Instances of runtimes are never reset and have no live
 * values.
 *
 * Caches. The site depends only on the stack, the handle and the size class, so each thread caches
 * a thousand sites. For some hundred sites it also caches where the site's latest object was
 * counted: the counter, the instance, and the live values in the instance. Most events need only
 * these caches: heap_fast_path.h.
 *
 * Backing. When a heap divides a block of malloc into its own blocks, the allocation of the malloc
 * block is undone. The malloc block is counted below a separate tag, which no total includes. Its
 * entry in the ledger looks like a sample of a recording mode that does not exist. So the fast path
 * of free needs no further test: it treats the block as a sample, and block_sample_ends calls
 * heap_backing.c.
 *
 * All functions are thread-safe. A reset while another thread allocates from the same instance is a
 * race in the program. A block may then be counted before or after the reset, but the sums are
 * correct. */
#include "event/heap.h"

#include "account/account_state.h"
#include "account/count.h"
#include "account/file.h"
#include "account/label.h"
#include "account/nodes.h"
#include "account/peak.h"
#include "account/recent.h"
#include "account/unknown_frees.h"
#include "base/atomics.h"
#include "event/block.h"
#include "event/event.h"
#include "event/event_state.h"
#include "event/filter.h"
#include "event/heap_backing.h"
#include "event/heap_fast_path.h"
#include "event/mode.h"
#include "heaps/heap_instance.h"
#include "heaps/heap_names.h"
#include "heaps/heap_objects.h"
#include "ledger/ledger_state.h"
#include "mixed/language_frames.h"
#include "platform/mem.h"

/* --- Instances -------------------------------------------------------------------------------- */

static void
lose_event(void)
{
    add_relaxed(&state->header->losses.heap_events, UINT64_C(1));
}

static void
lose_for_memory(void)
{
    add_relaxed(&state->header->losses.no_memory_events, UINT64_C(1));
}

static struct heap_name *
name_of_handle(uint64_t handle)
{
    return heap_name(heap_handle_part(handle, 0, HANDLE_NAME_BITS));
}

static struct disk_heap *
record_of(uint64_t handle)
{
    // Read the record atomically: another thread may just have created it.
    return table_record(&state->tables[DISK_HEAPS], load_acquire(&name_of_handle(handle)->record));
}

/* Return the instance of HANDLE. If there is none, return NULL, and count that unless HANDLE is
 * 0. */
static inline struct heap_instance *
instance_of(uint64_t handle)
{
    struct heap_instance *h = likely(handle != 0) ? heap_instance(handle) : NULL;

    if (unlikely(h == NULL) && handle == HEAP_LOST)
        lose_for_memory();
    else if (unlikely(h == NULL) && handle != 0)
        lose_event();
    return h;
}

uint64_t
heap_create(const char *name, unsigned skip_frames, enum heap_form form, bool is_dense)
{
    uint32_t number = heap_name_number(name);
    struct heap_instance *h;
    struct disk_heap *r;
    uint32_t index = heap_instance_take(&h), skip_max = (1 << HANDLE_SKIP_BITS) - 1;
    uint64_t handle;

    if (index == HEAP_CHUNKS * HEAP_CHUNK) {
        if (heap_instances_are_used_up())
            lose_event();
        else
            lose_for_memory();
        return HEAP_LOST;
    }
    handle = (uint64_t)h->uses++ << HANDLE_USE | (uint64_t)(form != HEAP_PLAIN) << HANDLE_LASTS |
             (uint64_t)(index + 1) << HANDLE_INDEX |
             (uint64_t)(skip_frames < skip_max ? skip_frames : skip_max) << HANDLE_SKIP | number;
    h->inherited = false;
    store_relaxed(&h->thread, NULL);
    heap_instance_set_dense(h, number, is_dense);
    store_release(&h->owner, handle);
    if (form == HEAP_COLLECTED)
        heap_name_collects(number);
    r = record_of(handle);
    add_relaxed(&r->made, UINT64_C(1));
    if (form == HEAP_COLLECTED)
        store_relaxed(&r->flags, (uint32_t)DISK_HEAP_COLLECTED);
    return handle;
}

void
heap_collected(uint64_t handle, uint64_t elapsed_ns)
{
    struct disk_heap *r;

    if (instance_of(handle) == NULL)
        return;
    r = record_of(handle);
    add_relaxed(&r->collections, UINT64_C(1));
    store_relaxed(&r->collected_ns, elapsed_ns);
}

/* --- Sites ------------------------------------------------------------------------------------ */

/* Return NODE without its innermost SKIP frames, but with at least one frame. */
static uint32_t
skip_frames(uint32_t node, uint32_t skip)
{
    for (; skip > 0; skip--) {
        uint32_t parent = load_relaxed(&account_state()->nodes[node].parent);

        // Other processes can write to the file, so check that the parent leads outwards. The
        // parent of a shortened stack is not a frame.
        if (parent < DISK_NODE_FIRST || parent >= node ||
            load_relaxed(&account_state()->nodes[parent].frame) == DISK_SHORTENED)
            break;
        node = parent;
    }
    return node;
}

/* Return the site for blocks of SIZE_BYTES that belong to the heap HANDLE under TAG and were
 * allocated at the stack NODE. Store the sites of the tag's node in *RET_SITES. If the tree has no
 * room for that node, store NULL and return the site of the heap's "other" stacks. Return 0 if
 * memory is exhausted. */
static uint32_t
heap_site_at(uint32_t node, uint64_t handle, enum disk_tag tag, uint64_t size_bytes,
             uint32_t **ret_sites)
{
    struct heap_name *n = name_of_handle(handle);
    uint32_t site;

    node = skip_frames(node, heap_handle_part(handle, HANDLE_SKIP, HANDLE_SKIP_BITS));
    node = label_here(node);
    node = nodes_tag(node, tag, load_relaxed(&n->record));
    *ret_sites = node != DISK_NODE_OTHER ? account_state()->nodes[node].site : NULL;
    site = *ret_sites != NULL ? nodes_site(*ret_sites, size_bytes) : 0;
    if (likely(site > DISK_SIZE_CLASSES))
        return site;
    *ret_sites = NULL;
    node = load_acquire(&n->other[tag - DISK_TAG_HEAP]);
    site = node != 0 ? nodes_site(account_state()->nodes[node].site, size_bytes) : 0;
    return site > DISK_SIZE_CLASSES ? site : 0;
}

/* Like heap_site_at, and store the result in T's cache. */
static NOINLINE uint32_t
find_site(struct thread *t, uint32_t node, uint64_t handle, uint64_t size_bytes)
{
    uint32_t *sites, site = heap_site_at(node, handle, DISK_TAG_HEAP, size_bytes, &sites);
    uint64_t key =
        heap_place_key(account_state()->nodes[node].site, handle, disk_size_class(size_bytes));
    struct heap_place *p;

    if (sites == NULL || tls.labels != 0)
        return site;
    if (unlikely(t->heaps == NULL) && (t->heaps = mem_private(sizeof *t->heaps)) == NULL)
        return site;
    p = heap_place(t->heaps, key);
    // Mark the entry as unused until it is complete, because a handler may jump out of here.
    p->key = 0;
    signal_fence();
    p->site = site;
    signal_fence();
    p->key = key;
    return site;
}

/* Return the site of an object of SIZE_BYTES of the heap HANDLE with the stack NODE. Return 0 if
 * memory is exhausted. */
static inline uint32_t
object_site(struct thread *t, uint32_t node, uint64_t handle, uint64_t size_bytes)
{
    uint32_t site = 0;

    if (likely(t->heaps != NULL) && likely(tls.labels == 0)) {
        uint64_t key =
            heap_place_key(account_state()->nodes[node].site, handle, disk_size_class(size_bytes));
        const struct heap_place *p = heap_place(t->heaps, key);

        if (likely(p->key == key))
            site = p->site;
    }
    return likely(site != 0) ? site : find_site(t, node, handle, size_bytes);
}

/* Cache in T the counter, the instance and the live values of SITE, while its objects belong to
 * H. */
static inline void
note_site(struct thread *t, uint32_t site, struct disk_counter *c, struct heap_instance *h,
          struct heap_live *live)
{
    struct heap_site *s;

    if (unlikely(t->heaps == NULL))
        return;
    s = heap_site(t->heaps, site);
    if (likely(s->site == site) && likely(s->instance == h) && likely(s->live == live) &&
        likely(s->counter == c))
        return;
    s->site = 0;
    signal_fence();
    s->counter = c;
    s->instance = h;
    s->live = live;
    signal_fence();
    s->site = site;
}

/* --- Objects ---------------------------------------------------------------------------------- */

/* Upper bound of the counts and bytes of one event, so that sums stay far below 2^63. */
#define AMOUNT_MAX ((uint64_t)1 << 46)

static uint64_t
clamp(uint64_t amount)
{
    return amount < AMOUNT_MAX ? amount : AMOUNT_MAX;
}

/* Return the mean size of B's objects in bytes. Most blocks are one object, and a division is
 * slow. */
static inline uint64_t
each_bytes_of(struct heap_block b)
{
    if (likely(b.count == 1))
        return b.size_bytes;
    return b.count != 0 ? b.size_bytes / b.count : 0;
}

/* Return true if H has live values per site. */
static inline bool
has_lives(const struct heap_instance *h)
{
    return heap_has_lives(load_relaxed(&h->owner));
}

/* Return true if T owns H. The first thread that calls this becomes the owner. */
static inline bool
is_owner(struct heap_instance *h, const struct thread *t)
{
    const struct thread *owner = load_relaxed(&h->thread), *none = NULL;

    if (likely(owner == t))
        return true;
    return owner == NULL && cas_acq_rel(&h->thread, &none, t);
}

static INLINE void
count_in(struct thread *t, struct disk_counter *c, struct heap_block b)
{
    uint64_t each_bytes = each_bytes_of(b);

    peak_before_alloc(t, c);
    if (b.count != 0 && (c->allocations == 0 || each_bytes < c->size_min))
        store_relaxed(&c->size_min, each_bytes);
    if (each_bytes > c->size_max)
        store_relaxed(&c->size_max, each_bytes);
    bump_by(&c->allocations, b.count);
    bump_by(&c->allocated_bytes, b.size_bytes);
}

/* Count the end of block B of H. Return the change of live bytes. Store the counter of B in *RET_C,
 * or NULL if B could not be counted. */
static INLINE int64_t
object_ends(struct thread *t, struct heap_instance *h, struct heap_block b,
            struct disk_counter **ret_c)
{
    bool lives = has_lives(h);
    struct heap_live *live = lives ? heap_live_at(&h->lives, b.site) : NULL;
    struct disk_counter *c = thread_counter(t, b.site);

    *ret_c = c;
    if (unlikely(c == NULL) || unlikely(live == NULL && lives)) {
        bump(&t->disk->no_memory_events);
        return 0;
    }
    note_site(t, b.site, c, h, live);
    if (lives)
        heap_live_add(live, is_owner(h, t), -(int64_t)b.count, -(int64_t)b.size_bytes);
    count_objects_free(t, c, b.count, b.size_bytes);
    return -(int64_t)b.size_bytes;
}

/* Count the free of OLD, which went unseen: another object is at its address. Return the change of
 * live bytes. */
static NOINLINE int64_t
overwritten(struct thread *t, struct heap_instance *h, struct heap_block old)
{
    struct disk_counter *c;

    bump(&t->disk->overwritten_blocks);
    return object_ends(t, h, old, &c);
}

/* Handle the allocation of an object of H at the address where OLD was. KEPT: there was room to
 * store the address. Return the change of live bytes due to OLD. */
static INLINE int64_t
note_kept(struct thread *t, struct heap_instance *h, bool kept, struct heap_block old)
{
    if (unlikely(!kept))
        bump(&t->disk->ledger_events);
    return likely(old.site == 0) ? 0 : overwritten(t, h, old);
}

/* Store the address P of B, unless P is NULL. Return the change of live bytes due to a block that
 * was still recorded at P. */
static INLINE int64_t
keep_object(struct thread *t, struct heap_instance *h, const void *p, struct heap_block b)
{
    struct heap_block old;
    bool kept;

    if (p == NULL)
        return 0;
    kept = heap_objects_insert(&h->objects, p, b, &old);
    return note_kept(t, h, kept, old);
}

/* Count the allocation of a block of COUNT objects and SIZE_BYTES with the stack NODE, at P. Return
 * its counter, or NULL if the event is lost. */
static INLINE struct disk_counter *
object_begins(struct thread *t, struct heap_instance *h, uint64_t handle, const void *p,
              uint64_t count, uint64_t size_bytes, uint32_t node, int64_t *ret_change)
{
    struct heap_block b = {.count = clamp(count), .size_bytes = clamp(size_bytes)};
    uint64_t each_bytes = b.count != 0 ? each_bytes_of(b) : b.size_bytes;
    bool lives = has_lives(h);
    struct heap_live *live = NULL;
    struct disk_counter *c = NULL;

    *ret_change = 0;
    b.site = object_site(t, node, handle, each_bytes);
    if (lives && b.site != 0)
        live = heap_live_at(&h->lives, b.site);
    if (live != NULL || (!lives && b.site != 0))
        c = thread_counter(t, b.site);
    if (c == NULL) {
        lose_for_memory();
        return NULL;
    }
    note_site(t, b.site, c, h, live);
    count_in(t, c, b);
    if (lives)
        heap_live_add(live, is_owner(h, t), (int64_t)b.count, (int64_t)b.size_bytes);
    b.birth = recent_begins(t, p, b.site);
    *ret_change = (int64_t)b.size_bytes + keep_object(t, h, p, b);
    return c;
}

void
heap_alloc(struct thread *t, uint64_t handle, const void *p, uint64_t count, uint64_t size_bytes,
           struct arch_caller caller)
{
    struct heap_instance *h = instance_of(handle);
    int64_t change;

    if (h == NULL || heap_is_off())
        return;
    object_begins(t, h, handle, p, count, size_bytes, language_node(t, caller), &change);
    peak_change(t, change);
}

NOINLINE void
heap_alloc_at(uint64_t handle, const void *p, uint64_t size_bytes,
              const struct stack_target *target)
{
    struct heap_instance *h = instance_of(handle);
    struct thread *t = tls.self;
    int64_t change;

    t->countdown--;
    if (h != NULL) {
        object_begins(t, h, handle, p, 1, size_bytes, nodes_of(target->sites), &change);
        peak_change(t, change);
        tick_if_moved(t);
    }
    reentry_leave();
}

/* Complete an allocation at P, described by B, with the stack of TARGET. RESULT is the result of
 * the fast path. */
static INLINE void
finish_alloc(enum heap_fast_path result, uint64_t handle, const void *p, uint64_t size_bytes,
             const struct stack_target *target, struct heap_block b)
{
    switch (result) {
    case HEAP_DONE:
        break;
    case HEAP_TO_FLUSH:
        event_flush();
        break;
    case HEAP_TO_STORE:
        heap_keep_counted(handle, p, size_bytes, b.site, b.birth);
        break;
    case HEAP_MISS:
        heap_alloc_at(handle, p, size_bytes, target);
        break;
    }
}

NOINLINE void
heap_alloc_coarse(uint64_t handle, const void *p, uint64_t size_bytes,
                  const struct stack_target *target)
{
    struct heap_block b;
    enum heap_fast_path result =
        heap_fast_path_alloc(tls.self, handle, p, size_bytes, target, false, &b);

    finish_alloc(result, handle, p, size_bytes, target, b);
}

NOINLINE void
heap_alloc_miss(uint64_t handle, const void *p, uint64_t size_bytes,
                struct arch_caller caller)
{
    struct thread *t = tls.self;
    const struct stack_target *target = stack_predicted(t, caller);
    enum heap_fast_path result;
    struct heap_block b;

    if (unlikely(target == NULL))
        target = stack_target_miss(t, caller);
    if (size_bytes > HEAP_FINE_BYTES) {
        heap_alloc_coarse(handle, p, size_bytes, target);
        return;
    }
    result = heap_fast_path_alloc(t, handle, p, size_bytes, target, true, &b);
    finish_alloc(result, handle, p, size_bytes, target, b);
}

NOINLINE void
heap_keep_counted(uint64_t handle, const void *p, uint64_t size_bytes, uint32_t site,
                  uint32_t birth)
{
    struct heap_instance *h = heap_instance_exists(handle);
    struct heap_block b = {.site = site, .birth = birth, .count = 1, .size_bytes = size_bytes}, old;
    struct thread *t = tls.self;
    int64_t change = (int64_t)size_bytes;

    // h is NULL if another thread has destroyed the instance and ended its objects.
    if (likely(h != NULL)) {
        bool kept = heap_objects_insert_slow(&h->objects, p, b, &old);

        change += note_kept(t, h, kept, old);
    }
    peak_change(t, change);
    tick_if_moved(t);
    reentry_leave();
}

/* Count a free of P, if no block is known at P. */
static COLD void
not_there(struct thread *t, struct heap_instance *h, const void *p, struct arch_caller caller)
{
    if (heap_is_off())
        return; // The block was probably allocated while recording was off.
    if (event_state()->gaps)
        bump(&t->disk->unrecorded_frees);
    else
        unknown_frees_count(t, h->inherited ? DISK_FREE_INHERITED : DISK_FREE_FOREIGN,
                            language_node(t, caller), 0, p);
}

/* Remove the block at P and return it. If there is no block at P, count that and return site 0. */
static INLINE struct heap_block
heap_take_out(struct thread *t, struct heap_instance *h, const void *p, struct arch_caller caller)
{
    struct heap_block b = heap_objects_remove(&h->objects, p);

    if (unlikely(b.site == 0))
        not_there(t, h, p, caller);
    return b;
}

void
heap_free(struct thread *t, uint64_t handle, const void *p, struct arch_caller caller)
{
    struct heap_instance *h = p != NULL ? instance_of(handle) : NULL;
    struct heap_block b = {0};
    struct disk_counter *c;
    int64_t change;

    if (h != NULL)
        b = heap_take_out(t, h, p, caller);
    if (b.site == 0)
        return;
    change = object_ends(t, h, b, &c);
    if (c != NULL)
        recent_ends(t, c, p, b.site, (uint8_t)b.birth, b.count);
    peak_change(t, change);
}

/* Like heap_fast_path_free, in TIER. */
static INLINE enum heap_fast_path
free_in_tier(struct thread *t, uint64_t handle, const void *p, uint32_t tier)
{
    struct heap_leaf *leaf = heap_leaf(tier, (uintptr_t)p);
    uint64_t *place = leaf != NULL ? heap_objects_at(leaf, tier, (uintptr_t)p) : NULL;

    return place != NULL ? heap_fast_path_free_at(t, handle, p, tier, leaf, place) : HEAP_MISS;
}

NOINLINE void
heap_free_begun(uint64_t handle, const void *p, struct arch_caller caller)
{
    struct thread *t = tls.self;
    enum heap_fast_path result = HEAP_MISS;

    // Unroll the loop, because shifts by constants need half the instructions.
#pragma GCC unroll 4
    for (uint32_t tier = 1; tier < HEAP_TIERS && result == HEAP_MISS; tier++)
        result = free_in_tier(t, handle, p, tier);
    if (likely(result == HEAP_DONE))
        return;
    if (result == HEAP_TO_FLUSH) {
        event_flush();
        return;
    }
    t->countdown--;
    heap_free(t, handle, p, caller);
    tick_if_moved(t);
    reentry_leave();
}

void
heap_resize(struct thread *t, uint64_t handle, const void *old, const void *p, uint64_t size_bytes,
            struct arch_caller caller)
{
    struct heap_instance *h = instance_of(handle);
    struct heap_block b = {.count = 1};
    struct disk_counter *c = NULL;
    int64_t left = 0, change = 0;

    if (h == NULL)
        return;
    if (old != NULL)
        b = heap_take_out(t, h, old, caller);
    if (b.site != 0)
        left = object_ends(t, h, b, &c);
    if (c != NULL) {
        bump_by(&c->moved, b.count);
        recent_drop(t, old, b.site, (uint8_t)b.birth);
    }
    c = NULL;
    language_moves((struct ledger_entry){0}, old, p);
    if (!heap_is_off())
        c = object_begins(t, h, handle, p, b.site != 0 ? b.count : 1, size_bytes,
                          language_node(t, caller), &change);
    language_moved();
    if (c != NULL && b.site != 0) {
        bump_by(&c->reallocations, b.count);
        if (size_bytes > b.size_bytes)
            bump_by(&c->grown_bytes, size_bytes - b.size_bytes);
    }
    peak_change(t, change + left);
}

/* Count the end of all live blocks of H. */
static void
end_all(struct thread *t, struct heap_instance *h)
{
    struct heap_live *live;
    int64_t change = 0;
    uint64_t i = 0;

    heap_objects_empty(&h->objects);
    while ((live = heap_live_next(&h->lives, &i)) != NULL) {
        struct disk_counter *c = thread_counter(t, load_relaxed(&live->site));
        int64_t count, size_bytes;

        if (c == NULL) {
            bump(&t->disk->no_memory_events);
            continue;
        }
        heap_live_take(live, &count, &size_bytes);
        if (count == 0 && size_bytes == 0)
            continue;
        count_objects_free(t, c, (uint64_t)count, (uint64_t)size_bytes);
        change -= size_bytes;
    }
    peak_change(t, change);
}

void
heap_reset(struct thread *t, uint64_t handle)
{
    struct heap_instance *h = instance_of(handle);

    if (h == NULL)
        return;
    if (!has_lives(h)) {
        lose_event();
        return;
    }
    end_all(t, h);
    add_relaxed(&record_of(handle)->resets, UINT64_C(1));
}

void
heap_destroy(struct thread *t, uint64_t handle)
{
    struct heap_instance *h = instance_of(handle);

    if (h == NULL)
        return;
    // After this CAS no other thread finds the instance, so only this thread puts it on the free
    // list.
    if (!cas_acq_rel(&h->owner, &handle, HEAP_NOBODY))
        return;
    end_all(t, h);
    heap_live_clear(&h->lives);
    heap_instance_give_back(h, handle);
    add_relaxed(&record_of(handle)->destroyed, UINT64_C(1));
}

/* --- Backing ---------------------------------------------------------------------------------- */

/* Undo the allocation of the block OLD at P. */
static void
undo_alloc(struct thread *t, const void *p, struct ledger_entry old)
{
    struct disk_counter *c = thread_counter(t, old.site);

    if (c == NULL) {
        bump(&t->disk->no_memory_events);
        return;
    }
    if (!recent_is_latest(t, p, old.site) || !peak_take_back(t, c, old.size_bytes)) {
        peak_before_free(t, c);
        peak_change(t, -(int64_t)old.size_bytes);
    }
    // If another thread's row has counted the allocation, this row may not have a size yet.
    if (c->allocations == 0)
        store_relaxed(&c->size_min, UINT64_MAX);
    bump_by(&c->allocations, UINT64_MAX);
    bump_by(&c->allocated_bytes, 0 - old.size_bytes);
    if (c->allocations == 0)
        store_relaxed(&c->size_max, UINT64_C(0));
}

/* Return true if the ledger has no live block in P's granule. A P inside another block must not
 * become backing. */
static bool
is_free_place(const void *p)
{
    const uint32_t *slot = (uintptr_t)p & 15 ? NULL : ledger_slot((uintptr_t)p);

    return slot == NULL || !ledger_is_live(load_relaxed(slot));
}

/* Insert P, whose entry was OLD, into the ledger as backing of the heap at SITE. Return false if
 * the ledger has no room. */
static bool
keep_backing(void *p, struct ledger_entry old, uint64_t size_bytes, uint32_t site)
{
    uint64_t what = old.site == 0 ? BACKING_FOREIGN : ledger_is_exact(old) ? 0 : BACKING_SAMPLE;
    struct ledger_entry none;

    if (!is_free_place(p) ||
        !ledger_insert_odd(p, size_bytes | what, site | LEDGER_BACKING, 0, &none))
        return false;
    filter_add(p);
    return true;
}

void
heap_backing(struct thread *t, uint64_t handle, void *p, uint64_t size_bytes,
             struct arch_caller caller)
{
    struct heap_block b = {.count = 1};
    struct disk_counter *c = NULL;
    struct ledger_entry old;
    uint32_t *sites;

    if (p == NULL || instance_of(handle) == NULL || heap_is_off())
        return;
    old = ledger_remove(p);
    if (ledger_is_backing(old)) {
        block_keep_again(t, p, old); // Keep the first heap: a block backs one heap at a time.
        return;
    }
    b.size_bytes = clamp(old.site != 0 ? old.size_bytes : size_bytes) & BACKING_BYTES;
    b.site = heap_site_at(language_node(t, caller), handle, DISK_TAG_BACKING, b.size_bytes, &sites);
    if (b.site != 0)
        c = thread_counter(t, b.site);
    if (c == NULL || !keep_backing(p, old, b.size_bytes, b.site)) {
        block_keep_again(t, p, old);
        lose_event();
        return;
    }
    if (ledger_is_exact(old))
        undo_alloc(t, p, old);
    else if (old.site != 0)
        peak_change(t, block_sample_undo(t, old, p));
    if (old.site != 0)
        recent_drop(t, p, old.site & LEDGER_SITE_MASK, (uint8_t)old.birth);
    count_in(t, c, b);
}

/* Record P of SIZE_BYTES as a block of malloc again, as if it had just been allocated. */
static void
back_to_malloc(struct thread *t, void *p, uint64_t size_bytes, struct arch_caller caller)
{
    uint32_t *sites = language_sites(t, stack_target(t, caller));
    // The ledger did not store the block's allocator, so do not trust the size word.
    struct ledger_entry now = {.site = nodes_site(sites, size_bytes),
                               .odd = ledger_state()->usable == USABLE_CALL,
                               .size_bytes = size_bytes};
    struct disk_counter *c = thread_counter(t, now.site);

    if (c == NULL) {
        bump(&t->disk->no_memory_events);
        return;
    }
    now.birth = recent_begins(t, p, now.site);
    count_alloc(t, c, size_bytes);
    filter_keep(p); // No sample represents this block, so record its free in any mode.
    block_keep_again(t, p, now);
    peak_change(t, (int64_t)size_bytes);
}

void
heap_backing_end(struct thread *t, uint64_t handle, void *p, struct arch_caller caller)
{
    struct heap_instance *h = p != NULL ? instance_of(handle) : NULL;
    struct ledger_entry old;

    if (h == NULL)
        return;
    old = ledger_remove(p);
    if (!ledger_is_backing(old)) {
        block_keep_again(t, p, old);
        return;
    }
    block_sample_ends(t, old, p, false);
    if (!(old.size_bytes & BACKING_FOREIGN))
        back_to_malloc(t, p, old.size_bytes & BACKING_BYTES, caller);
    else
        ledger_clear_freed(p);
}
