/* ledger_ahead.c: the ledger follows a heap that grows.
 *
 * The place of a new block in the ledger is first read, whether somebody still lives there, and
 * then written. On a page that nobody has touched the first is a page fault which maps the page of
 * zeros, and the second is another one which replaces it: three times the price of a page that the
 * kernel is asked for, with others, before it is needed. A heap of 64 MiB has 2,600 such pages.
 *
 * What is asked for must not be more than what the heap will take, since it is memory at once. So
 * only a heap that has been seen to grow is followed, no further ahead than half of what it has
 * grown by, nor than AHEAD_MAX_BYTES, for which the ledger has 80 KiB. One block in some hundred is
 * looked at, one at each tick. A block below the highest is one whose place was used before, and
 * says nothing. One far away begins a new stretch, but only if what comes behind it in the ledger
 * is not there yet: blocks from all over a large heap would otherwise look like a heap that grows
 * by leaps.
 *
 * The call of the program that waits for this should not be told from others, and a page takes a
 * microsecond. So pages come in small steps: two or three for STEP_BYTES of the heap. Only a heap
 * that grows by more from one look to the next gets as much as that at once.
 */
#include "account/ledger_ahead.h"

#include "account/ledger.h"
#include "platform/mem.h"
#include "platform/state.h"

/* Of the program's address space. */
#define FAR_BELOW_BYTES ((uintptr_t)64 << 20)
#define FAR_ABOVE_BYTES ((uintptr_t)2 << 20)
#define AHEAD_MAX_BYTES ((uintptr_t)512 << 10)
#define AHEAD_MIN_BYTES ((uintptr_t)64 << 10)
#define STEP_BYTES ((uintptr_t)64 << 10)

/* Up to where pages are made from START on when the heap's highest block is ADDRESS. */
static uintptr_t
end_of_step(const struct ledger_ahead *a, uintptr_t start, uintptr_t address, uintptr_t step)
{
    uintptr_t ahead = (address - a->first) / 2;
    uintptr_t end = address + (ahead < AHEAD_MAX_BYTES ? ahead : AHEAD_MAX_BYTES);
    uintptr_t last = address | (((uintptr_t)1 << LEDGER_SPAN_BITS) - 1);

    if (end > start + step)
        end = start + step;
    return end < last ? end : last;
}

/* Has the ledger been used behind ADDRESS? */
static bool
is_used_behind(uintptr_t address)
{
    struct ledger_place behind = ledger_place(address + AHEAD_MIN_BYTES);

    return behind.leaf != NULL && mem_is_there(ledger_slot_at(behind));
}

void
ledger_look_ahead(struct ledger_ahead *a, const void *p)
{
    uintptr_t address = (uintptr_t)p, grown = address - a->top, start, end, step;
    struct ledger_place from, to;

    a->looks++;
    if (grown > FAR_ABOVE_BYTES) {
        if (a->top - address > FAR_BELOW_BYTES && !is_used_behind(address))
            *a = (struct ledger_ahead){.first = address, .top = address, .made = address};
        return;
    }
    step = grown / a->looks > STEP_BYTES ? grown / a->looks : STEP_BYTES;
    a->top = address;
    a->looks = 0;
    start = a->made > address ? a->made : address;
    end = end_of_step(a, start, address, step);
    if (start >= end || (end - start < AHEAD_MIN_BYTES &&
                         end != (address | (((uintptr_t)1 << LEDGER_SPAN_BITS) - 1))))
        return;
    from = ledger_place(start);
    to = ledger_place(end);
    if (from.leaf == NULL || from.leaf != to.leaf)
        return;
    a->made = end;
    mem_touch(ledger_slot_at(from), ledger_slot_at(to));
    mem_touch(ledger_birth_at(from, state->granule_shift),
              ledger_birth_at(to, state->granule_shift));
}
