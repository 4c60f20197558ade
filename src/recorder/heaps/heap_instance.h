/* heap_instance.h: the program's own heaps, each with what it holds; see heap_instance.c. */
#ifndef HEAPS_HEAP_INSTANCE_H
#define HEAPS_HEAP_INSTANCE_H

#include "base/atomics.h"
#include "heaps/heap_stakes.h"
#include "heaps/heap_table.h"
#include "heaps/heaps_state.h"
#include "platform/state.h"

struct thread;

enum { HEAP_CHUNKS = 4096, HEAP_CHUNK = 4096, HEAP_NAMES = LIMIT_HEAPS - 8 };

/* What an instance holds by address: heap_objects.c. All zero but for the claim is empty. */
struct heap_objects {
    uint64_t claim;  // Atomic: what its present objects are claimed by; 0 = not begun.
    uint32_t untold; // Atomic: 1 if its table has objects of which no region tells.
    uint32_t number; // Atomic: the one that the claim had in the region looked at last; a guess.
    // Atomic, a bit for each tier: whether this instance has ever claimed a region of it.
    uint32_t used_tiers;
    uint32_t sparse_used;   // Atomic: the same of the levels of heap_sparse.c.
    uint32_t sparse_latest; // Atomic: the level in which an object was found last; a guess.
    // Atomic, by tier: an address in the region claimed last, and in the one before; 0 = none.
    uint64_t latest[5], before[5];
    struct heap_map table;
};

struct heap_instance {
    uint64_t owner; // Atomic: the handle; 0 = of no use yet, HEAP_NOBODY = free.
    const struct thread *thread; // Atomic: the first that put something in, which most are of.
    struct heap_objects objects;
    struct heap_lives lives; // Nothing of one that lasts.
    uint32_t next_free; // Index plus 1.
    uint32_t uses;
    bool inherited; // Made before the fork that made this process.
};

/* Private memory of the process. */
struct heap_instances {
    struct heap_stakes stakes[5]; // By tier of heap_objects.c.
    uint64_t forgiven_bytes;      // Atomic; heap_stakes.h.
    uint64_t free; // Atomic: the first free instance's index plus 1, and a count above.
    struct heap_instance *chunks[HEAP_CHUNKS]; // Atomic: arrays of HEAP_CHUNK of them, by number.
};

/* Of a claim; the instance's index plus 1 stands above. It is counted up when it is emptied. */
enum { HEAP_CLAIM_TURN_BITS = 40 };

/* A handle, from the lowest bit on. */
enum {
    HANDLE_NAME_BITS = 10, // Up to HEAP_NAMES, "other heaps".
    HANDLE_SKIP_BITS = 8,
    HANDLE_INDEX_BITS = 24, // Index plus 1, so that no handle is NULL.
    HANDLE_LASTS_BITS = 1,
    HANDLE_USE_BITS = 21,
    HANDLE_SKIP = HANDLE_NAME_BITS,
    HANDLE_INDEX = HANDLE_SKIP + HANDLE_SKIP_BITS,
    HANDLE_LASTS = HANDLE_INDEX + HANDLE_INDEX_BITS, // It is never emptied.
    HANDLE_USE = HANDLE_LASTS + HANDLE_LASTS_BITS,
};
static_assert(HANDLE_USE + HANDLE_USE_BITS == 64 && HEAP_NAMES < 1 << HANDLE_NAME_BITS &&
                  HEAP_CHUNKS * HEAP_CHUNK == 1 << HANDLE_INDEX_BITS,
              "a handle is full");

#define HEAP_NOBODY UINT64_C(1) // Its index would be that of no instance.

static inline uint32_t
heap_handle_part(uint64_t handle, uint32_t shift, uint32_t bits)
{
    return (uint32_t)(handle >> shift & ((UINT64_C(1) << bits) - 1));
}

/* The index of an instance that nobody uses, *RET_H; HEAP_CHUNKS * HEAP_CHUNK when there are no
 * more, or no memory. */
uint32_t heap_instance_take(struct heap_instance **ret_h);

/* Whether there are as many instances as there can be. */
bool heap_instances_are_used_up(void);

/* Nobody uses H, which is that of HANDLE, any more. */
void heap_instance_give_back(struct heap_instance *h, uint64_t handle);

/* The instance of HANDLE if heap_instance does not find it: one that was made before a fork. NULL:
 * there is none, it was destroyed, or there is no memory. */
struct heap_instance *heap_instance_inherit(uint64_t handle);

/* The instance of that number, its index plus 1; NULL if nobody has ever asked for it. */
static inline struct heap_instance *
heap_instance_peek(uint32_t number)
{
    struct heap_instance *chunk =
        load_acquire(&heaps_state()->heaps->chunks[number / HEAP_CHUNK % HEAP_CHUNKS]);

    return likely(chunk != NULL) ? &chunk[number % HEAP_CHUNK] : NULL;
}

/* The instance of HANDLE if it is there and that handle's; else NULL. */
static inline struct heap_instance *
heap_instance_there(uint64_t handle)
{
    struct heap_instance *h =
        heap_instance_peek(heap_handle_part(handle, HANDLE_INDEX, HANDLE_INDEX_BITS));

    return likely(h != NULL) && likely(load_acquire(&h->owner) == handle) ? h : NULL;
}

/* The instance that HANDLE means; NULL: see heap_instance_inherit. */
static inline struct heap_instance *
heap_instance(uint64_t handle)
{
    struct heap_instance *h = heap_instance_there(handle);

    return likely(h != NULL) ? h : heap_instance_inherit(handle);
}

/* Is what lives in the instance of HANDLE known by stack? */
static inline bool
heap_has_lives(uint64_t handle)
{
    return (handle >> HANDLE_LASTS & 1) == 0;
}

#endif
