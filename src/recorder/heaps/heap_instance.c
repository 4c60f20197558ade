/* heap_instance.c: creates and reuses the instances of the program's own heaps.
 *
 * Each heap that the program creates is an instance here. The program may create millions of heaps,
 * one for each request; the instance of a destroyed heap is reused.
 *
 * The program's handle consists of numbers: the name, the number of frames to skip, the instance,
 * and a count of the instance's uses. So a handle is valid in a child made by fork, which sees all
 * private memory as zeros. In the child the instance starts empty, and frees of blocks that were
 * live before the fork count as inherited. A handle whose count differs from its instance's belongs
 * to a destroyed heap. */
#include "heaps/heap_instance.h"

#include "heaps/heaps_state.h"
#include "platform/mem.h"

/* Number of indexes in use so far. Constant across fork, so that a child does not reuse an index
 * that it inherited. */
static uint32_t instance_count;

/* By number of the name. Atomic: 1 if the heaps with this name are dense. Constant across fork. */
static uint32_t dense_names[HEAP_NAMES + 1];

static struct heap_instance *
instance_at(uint32_t index)
{
    uint32_t number = index + 1;
    struct heap_instance **place = &heaps_state()->heaps->chunks[number / HEAP_CHUNK];
    struct heap_instance *chunk = load_acquire(place), *none = NULL;

    if (unlikely(chunk == NULL)) {
        chunk = mem_private(sizeof *chunk * HEAP_CHUNK);
        if (chunk == NULL)
            return NULL;
        if (!cas_acq_rel(place, &none, chunk)) {
            mem_release(chunk, sizeof *chunk * HEAP_CHUNK);
            chunk = none;
        }
    }
    return &chunk[number % HEAP_CHUNK];
}

/* Set the claim of O, the objects of instance INDEX. Calling this twice has no further effect. */
static void
begin_claims(struct heap_objects *o, uint32_t index)
{
    uint64_t none = 0;

    if (load_relaxed(&o->claim) == 0)
        cas_acq_rel(&o->claim, &none, (uint64_t)(index + 1) << HEAP_CLAIM_TURN_BITS);
}

void
heap_instance_set_dense(struct heap_instance *h, uint32_t name, bool is_dense)
{
    if (is_dense)
        store_relaxed(&dense_names[name], 1u);
    store_relaxed(&h->objects.is_dense, load_relaxed(&dense_names[name]));
}

COLD struct heap_instance *
heap_instance_inherit(uint64_t handle)
{
    uint32_t index = heap_handle_part(handle, HANDLE_INDEX, HANDLE_INDEX_BITS) - 1;
    struct heap_instance *h;
    uint64_t owner;

    if (index >= load_relaxed(&instance_count) ||
        heap_handle_part(handle, 0, HANDLE_NAME_BITS) > HEAP_NAMES ||
        (h = instance_at(index)) == NULL)
        return NULL;
    owner = load_acquire(&h->owner);
    if (owner == 0 && state->forked) {
        h->inherited = true;
        begin_claims(&h->objects, index);
        heap_instance_set_dense(h, heap_handle_part(handle, 0, HANDLE_NAME_BITS), false);
        if (cas_acq_rel(&h->owner, &owner, handle))
            return h;
    }
    return owner == handle ? h : NULL;
}

/* Return a new head of the free list. Its count, above the index, prevents the ABA problem: between
 * a thread's read and its CAS, an instance may be taken and freed again. */
static uint64_t
free_head(uint64_t before, uint32_t index_plus_1)
{
    return ((before >> 32) + 1) << 32 | index_plus_1;
}

void
heap_instance_give_back(struct heap_instance *h, uint64_t handle)
{
    uint32_t index_plus_1 = heap_handle_part(handle, HANDLE_INDEX, HANDLE_INDEX_BITS);
    uint64_t head = load_acquire(&heaps_state()->heaps->free);

    do
        store_relaxed(&h->next_free, (uint32_t)head);
    while (!cas_acq_rel(&heaps_state()->heaps->free, &head, free_head(head, index_plus_1)));
}

/* Return the index of a free instance. */
static uint32_t
take_index(void)
{
    uint64_t head = load_acquire(&heaps_state()->heaps->free);
    uint32_t count = load_relaxed(&instance_count);

    while ((uint32_t)head != 0) {
        uint32_t index = (uint32_t)head - 1;
        const struct heap_instance *first = instance_at(index);

        if (first == NULL)
            break;
        if (cas_acq_rel(&heaps_state()->heaps->free, &head,
                        free_head(head, load_relaxed(&first->next_free))))
            return index;
    }
    if (!mem_charge(sizeof(struct heap_instance)))
        return HEAP_CHUNKS * HEAP_CHUNK;
    while (count < HEAP_CHUNKS * HEAP_CHUNK - 1)
        if (cas_acq_rel(&instance_count, &count, count + 1))
            return count;
    return HEAP_CHUNKS * HEAP_CHUNK;
}

bool
heap_instances_are_used_up(void)
{
    return load_relaxed(&instance_count) >= HEAP_CHUNKS * HEAP_CHUNK - 1;
}

uint32_t
heap_instance_take(struct heap_instance **ret_h)
{
    uint32_t index = take_index();
    struct heap_instance *h = index < HEAP_CHUNKS * HEAP_CHUNK ? instance_at(index) : NULL;

    if (h == NULL)
        return HEAP_CHUNKS * HEAP_CHUNK;
    begin_claims(&h->objects, index);
    *ret_h = h;
    return index;
}
