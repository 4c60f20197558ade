/* heap_quota.c: bounds the memory of pieces that may stay mostly empty.
 *
 * Objects of a dense heap are cheapest in a piece of memory that is laid out for many objects. The
 * first object of a piece does not show whether others will follow. So a piece needs a *slot*
 * before it allocates memory, and there are few slots for each kind of piece:
 *
 *     piece A: full       ──► its slot is free for the next piece
 *     piece B: half empty ──► it keeps its slot until it is full
 *
 * If no slot is free, the piece is refused, and its object goes to a coarser kind of piece. So for
 * any arrangement of the objects, all but HEAP_QUOTA_SLOTS pieces of a kind have been full.
 *
 * Eviction. If sparse objects kept all slots, a later dense heap would get none. So a new piece
 * takes the slot of the piece that wastes least, as long as the total waste of evicted pieces stays
 * below a 64th of the charged memory.
 *
 * After a refusal, further requests are refused without measuring until more memory was charged,
 * because measuring takes time. Near the memory limit they are refused in any case: no piece would
 * get a page, and each object would measure all pieces again.
 */
#include "heaps/heap_quota.h"

#include "platform/mem.h"
#include "platform/state.h"

enum { EVICTED_SHARE = 64, RETRY_BYTES = 4096 };

/* Return the number of the slot whose piece wastes least. Store that waste in bytes in *RET_WASTED,
 * and the piece in *RET_PIECE. */
static uint32_t
find_cheapest(const struct heap_quota *s, heap_waste_fn *waste, uint64_t *ret_wasted,
              uint64_t *ret_piece)
{
    uint64_t least = UINT64_MAX;
    uint32_t cheapest = 0;

    for (uint32_t i = 0; i < HEAP_QUOTA_SLOTS && least > 0; i++) {
        uint64_t piece = load_relaxed(&s->open[i]), wasted = piece != 0 ? waste(piece) : 0;

        if (wasted >= least)
            continue;
        least = wasted;
        cheapest = i;
        *ret_piece = piece;
    }
    *ret_wasted = least;
    return cheapest;
}

bool
heap_quota_take(struct heap_quota *s, uint64_t piece, heap_waste_fn *waste,
                uint64_t *evicted_bytes)
{
    uint64_t now = load_relaxed(&state->charged), refused = load_relaxed(&s->refused_at);
    uint64_t wasted, current = 0;
    uint32_t i;

    if (heap_quota_has(s, piece))
        return true;
    if ((refused != 0 && now - refused < RETRY_BYTES) || mem_is_used_up())
        return false;
    i = find_cheapest(s, waste, &wasted, &current);
    if (load_relaxed(evicted_bytes) + wasted > now / EVICTED_SHARE && wasted > 0) {
        store_relaxed(&s->refused_at, now);
        return false;
    }
    if (!cas_acq_rel(&s->open[i], &current, piece))
        return false; // Another thread has taken the slot first.
    if (wasted > 0)
        add_relaxed(evicted_bytes, wasted);
    return true;
}
