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
 * says nothing; one far away begins a new stretch.
 */
#include "account/ledger_ahead.h"

#include "account/ledger.h"
#include "platform/mem.h"
#include "platform/state.h"

/* Of the program's address space. */
#define STRETCH_MAX_BYTES ((uintptr_t)64 << 20)
#define AHEAD_MAX_BYTES ((uintptr_t)512 << 10)
#define AHEAD_MIN_BYTES ((uintptr_t)128 << 10)

void
ledger_look_ahead(struct ledger_ahead *a, const void *p)
{
    uintptr_t address = (uintptr_t)p, start, end, last;
    struct ledger_place from, to;

    if (address - a->top > STRETCH_MAX_BYTES) {
        if (a->top - address > STRETCH_MAX_BYTES)
            *a = (struct ledger_ahead){.first = address, .top = address, .made = address};
        return;
    }
    a->top = address;
    end = address + (address - a->first) / 2;
    if (end > address + AHEAD_MAX_BYTES)
        end = address + AHEAD_MAX_BYTES;
    start = a->made > address ? a->made : address;
    last = address | (((uintptr_t)1 << LEDGER_SPAN_BITS) - 1);
    if (end > last)
        end = last;
    if (start >= end || (end - start < AHEAD_MIN_BYTES && end != last))
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
