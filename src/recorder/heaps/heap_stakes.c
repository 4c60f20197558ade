/* heap_stakes.c: bounds the memory of pieces that may stay mostly empty.
 *
 * Objects of a dense heap are cheapest in a piece of memory that is laid out for many objects. The
 * first object of a piece cannot show if others will follow. So a piece needs a *stake* before it
 * allocates memory, and there are few stakes of each kind:
 *
 *     piece A: full       ──► its stake is free for the next piece
 *     piece B: half empty ──► it keeps its stake until it is full
 *
 * If no stake is free, the piece is refused, and its object goes to a coarser kind. So all but
 * HEAP_STAKES pieces of a kind have been full, for any arrangement of the objects.
 *
 * Forgiving. If sparse objects kept all stakes, a dense heap that comes later would get none. So
 * the piece that wastes least loses its stake, as long as the total waste of such pieces stays
 * below a 64th of the charged memory.
 *
 * A refusal is repeated without measuring until more memory was charged, because measuring takes
 * time.
 */
#include "heaps/heap_stakes.h"

#include "platform/state.h"

enum { FORGIVEN_SHARE = 64, RETRY_BYTES = 4096 };

/* Return the number of the stake whose piece wastes least, its waste in *RET_WASTED, and the piece
 * in *RET_PIECE. */
static uint32_t
find_cheapest(const struct heap_stakes *s, heap_waste_fn *waste, uint64_t *ret_wasted,
              uint64_t *ret_piece)
{
    uint64_t least = UINT64_MAX;
    uint32_t cheapest = 0;

    for (uint32_t i = 0; i < HEAP_STAKES && least > 0; i++) {
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
heap_stakes_take(struct heap_stakes *s, uint64_t piece, heap_waste_fn *waste,
                 uint64_t *forgiven_bytes)
{
    uint64_t now = load_relaxed(&state->charged), refused = load_relaxed(&s->refused_at);
    uint64_t wasted, there = 0;
    uint32_t i;

    if (heap_stakes_have(s, piece))
        return true;
    if (refused != 0 && now - refused < RETRY_BYTES)
        return false;
    i = find_cheapest(s, waste, &wasted, &there);
    if (load_relaxed(forgiven_bytes) + wasted > now / FORGIVEN_SHARE && wasted > 0) {
        store_relaxed(&s->refused_at, now);
        return false;
    }
    if (!cas_acq_rel(&s->open[i], &there, piece))
        return false; // Another thread was faster.
    if (wasted > 0)
        add_relaxed(forgiven_bytes, wasted);
    return true;
}
