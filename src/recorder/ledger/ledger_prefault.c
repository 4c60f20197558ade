/* ledger_prefault.c: prefaults the ledger for a growing heap.
 *
 * An insertion first reads the entry's slot, to detect a block that is still live there, and then
 * writes it. On an untouched page the read faults in the zero page, and the write faults again to
 * replace it. Both faults together cost three times as much as prefaulting the page with others in
 * advance. A heap of 64 MiB has 2,048 such pages.
 *
 * Prefaulted pages use memory at once, so their number must not exceed the need of the heap. Pages
 * are prefaulted only for a heap that was seen to grow. The prefaulted range is at most half the
 * observed growth, and at most PREFAULT_MAX_BYTES, ahead of the heap; that needs 64 KiB of ledger.
 * Each tick examines one block, about one block in a hundred. A block below the highest one gives
 * no information, because its slot was used before. A distant block begins a new range, but only if
 * the ledger after it is not yet populated. Without this condition, blocks from all over a large
 * heap would look like a heap that grows in leaps.
 *
 * A call of the program waits while pages are prefaulted. The call must not be noticeably slower
 * than other calls, and a page takes a microsecond. So pages are prefaulted in small steps, two or
 * three pages for each STEP_BYTES of the heap. If the heap grows by more between two ticks, one
 * step covers that growth. */
#include "ledger/ledger_hooked.h"

#include "ledger/ledger.h"
#include "ledger/ledger_state.h"
#include "platform/mem.h"
#include "platform/state.h"

/* Distances in the program's address space, in bytes. */
#define FAR_BELOW_BYTES ((uintptr_t)64 << 20)
#define FAR_ABOVE_BYTES ((uintptr_t)2 << 20)
#define PREFAULT_MAX_BYTES ((uintptr_t)512 << 10)
#define PREFAULT_MIN_BYTES ((uintptr_t)64 << 10)
#define STEP_BYTES ((uintptr_t)64 << 10)

/* Return the end of the range to prefault. The range begins at START, and the heap's highest block
 * is at ADDRESS. */
static uintptr_t
end_of_step(const struct ledger_prefaulted *a, uintptr_t start, uintptr_t address, uintptr_t step)
{
    uintptr_t prefaulted = (address - a->first) / 2;
    uintptr_t end = address + (prefaulted < PREFAULT_MAX_BYTES ? prefaulted : PREFAULT_MAX_BYTES);
    uintptr_t last = address | (((uintptr_t)1 << LEDGER_SPAN_BITS) - 1);

    if (end > start + step)
        end = start + step;
    return end < last ? end : last;
}

/* Return true if the part of the ledger after ADDRESS is populated. */
static bool
is_used_behind(uintptr_t address)
{
    struct ledger_place behind = ledger_place(address + PREFAULT_MIN_BYTES);

    return behind.leaf != NULL && mem_is_mapped(ledger_slot_at(behind));
}

void
ledger_prefault(struct ledger_prefaulted *a, const void *p)
{
    uintptr_t address = (uintptr_t)p, grown = address - a->top, start, end, step;
    struct ledger_place from, to;

    a->looks++;
    if (grown > FAR_ABOVE_BYTES) {
        if (a->top - address > FAR_BELOW_BYTES && !is_used_behind(address))
            *a = (struct ledger_prefaulted){.first = address, .top = address, .made = address};
        return;
    }
    step = grown / a->looks > STEP_BYTES ? grown / a->looks : STEP_BYTES;
    a->top = address;
    a->looks = 0;
    start = a->made > address ? a->made : address;
    end = end_of_step(a, start, address, step);
    if (start >= end || (end - start < PREFAULT_MIN_BYTES &&
                         end != (address | (((uintptr_t)1 << LEDGER_SPAN_BITS) - 1))))
        return;
    from = ledger_place(start);
    to = ledger_place(end);
    if (from.leaf == NULL || from.leaf != to.leaf)
        return;
    a->made = end;
    mem_touch(ledger_slot_at(from), ledger_slot_at(to));
    if (!ledger_is_packed())
        mem_touch(ledger_birth_at(from), ledger_birth_at(to));
}
