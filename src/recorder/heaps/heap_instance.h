/* heap_instance.h: creates and finds instances of the program's own heaps; see heap_instance.c. */
#ifndef HEAPS_HEAP_INSTANCE_H
#define HEAPS_HEAP_INSTANCE_H

#include "base/atomics.h"
#include "heaps/heap_quota.h"
#include "heaps/heap_table.h"
#include "heaps/heaps_state.h"
#include "platform/state.h"

struct thread;

enum { HEAP_CHUNKS = 4096, HEAP_CHUNK = 4096, HEAP_NAMES = LIMIT_HEAPS - 8 };

/* The objects of an instance by address; see heap_objects.c. An instance is empty if all members
 * except the claim and is_dense are zero. */
struct heap_objects {
    uint64_t claim;     // Atomic: claim of the present objects; 0 = never used.
    uint32_t untracked; // Atomic: 1 if the table may have objects that no region records.
    uint32_t number;    // Atomic: hint, the number of the claim in the region used last.
    uint32_t is_dense;  // Atomic: 1 = the objects lie side by side.
    // Atomic: a bit for each tier in which this instance has ever claimed a region.
    uint32_t used_tiers;
    uint32_t sparse_used;   // Atomic: like used_tiers, for the levels of heap_sparse.c.
    uint32_t sparse_latest; // Atomic: hint, the level of the object that was found last.
    // Atomic, by tier: an address in the region claimed last, and in the region claimed before it;
    // 0 = none.
    uint64_t latest[5], before[5];
    struct heap_map table;
};

struct heap_instance {
    uint64_t owner; // Atomic: the handle; 0 = never used, HEAP_NOBODY = free.
    const struct thread *thread; // Atomic: the owner, which is the thread of the first event and
                                 // usually of most events.
    struct heap_objects objects;
    struct heap_lives lives; // Empty for an instance that is never reset.
    uint32_t next_free; // Index plus 1 of the next free instance.
    uint32_t uses;
    bool inherited; // True if the instance was created before the fork that made this process.
};

/* The instances of this process, in private memory. */
struct heap_instances {
    struct heap_quota quotas[5]; // Indexed by tier of heap_objects.c.
    uint64_t evicted_bytes;      // Atomic; heap_quota.h.
    uint64_t free; // Atomic: in the low half, index plus 1 of the first free instance; in the high
                   // half, a count (heap_instance.c).
    struct heap_instance *chunks[HEAP_CHUNKS]; // Atomic: arrays of HEAP_CHUNK instances.
};

/* Number of low bits of a claim that count resets. Above them is the instance's index plus 1. */
enum { HEAP_CLAIM_TURN_BITS = 40 };

/* Fields of a handle, from the lowest bit up. */
enum {
    HANDLE_NAME_BITS = 10, // Number of the name, 0 to HEAP_NAMES; HEAP_NAMES = "other heaps".
    HANDLE_SKIP_BITS = 8,
    HANDLE_INDEX_BITS = 24, // Index plus 1, so that no handle is 0.
    HANDLE_LASTS_BITS = 1,
    HANDLE_USE_BITS = 21,
    HANDLE_SKIP = HANDLE_NAME_BITS,
    HANDLE_INDEX = HANDLE_SKIP + HANDLE_SKIP_BITS,
    HANDLE_LASTS = HANDLE_INDEX + HANDLE_INDEX_BITS, // Set if the instance is never reset.
    HANDLE_USE = HANDLE_LASTS + HANDLE_LASTS_BITS,
};
static_assert(HANDLE_USE + HANDLE_USE_BITS == 64 && HEAP_NAMES < 1 << HANDLE_NAME_BITS &&
                  HEAP_CHUNKS * HEAP_CHUNK == 1 << HANDLE_INDEX_BITS,
              "a handle is full");

// The index field of these values is 0, so they have no instance. HEAP_LOST is the handle of a heap
// for which there was no memory: each of its events counts as lost.
#define HEAP_NOBODY UINT64_C(1)
#define HEAP_LOST UINT64_C(2)

static inline uint32_t
heap_handle_part(uint64_t handle, uint32_t shift, uint32_t bits)
{
    return (uint32_t)(handle >> shift & ((UINT64_C(1) << bits) - 1));
}

/* Take a free instance, store it in *RET_H and return its index. Return HEAP_CHUNKS * HEAP_CHUNK if
 * all instances are in use or memory is exhausted. */
uint32_t heap_instance_take(struct heap_instance **ret_h);

/* Let H be dense if IS_DENSE, or if an earlier heap was whose name has the number NAME. Call before
 * H gets its handle. */
void heap_instance_set_dense(struct heap_instance *h, uint32_t name, bool is_dense);

/* Return true if all possible instances are in use. */
bool heap_instances_are_used_up(void);

/* Free H, the instance of HANDLE. Requires that no thread uses it. */
void heap_instance_give_back(struct heap_instance *h, uint64_t handle);

/* Slow path of heap_instance, for a HANDLE from before a fork. Return its instance. Return NULL if
 * memory is exhausted, or if the instance never existed or was destroyed. */
struct heap_instance *heap_instance_inherit(uint64_t handle);

/* Return the instance with NUMBER, its index plus 1. Return NULL if its chunk was never
 * allocated. */
static inline struct heap_instance *
heap_instance_peek(uint32_t number)
{
    struct heap_instance *chunk =
        load_acquire(&heaps_state()->heaps->chunks[number / HEAP_CHUNK % HEAP_CHUNKS]);

    return likely(chunk != NULL) ? &chunk[number % HEAP_CHUNK] : NULL;
}

/* Return the instance of HANDLE if it exists and belongs to HANDLE; else NULL. */
static inline struct heap_instance *
heap_instance_exists(uint64_t handle)
{
    struct heap_instance *h =
        heap_instance_peek(heap_handle_part(handle, HANDLE_INDEX, HANDLE_INDEX_BITS));

    return likely(h != NULL) && likely(load_acquire(&h->owner) == handle) ? h : NULL;
}

/* Return the instance of HANDLE; NULL in the same cases as heap_instance_inherit. */
static inline struct heap_instance *
heap_instance(uint64_t handle)
{
    struct heap_instance *h = heap_instance_exists(handle);

    return likely(h != NULL) ? h : heap_instance_inherit(handle);
}

/* Return true if the live objects of HANDLE's instance are also summed by site. A heap that may be
 * reset needs these sums. */
static inline bool
heap_has_lives(uint64_t handle)
{
    return (handle >> HANDLE_LASTS & 1) == 0;
}

#endif
