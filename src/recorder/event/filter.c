/* filter.c: finds the pages that may have recorded blocks, in modes that do not record every block.
 *
 * In such modes most frees concern unrecorded blocks. A table with one byte per page counts the
 * live samples on that page. A zero proves that the page has no recorded block; for any other value
 * the ledger decides. When exact recording ends, the ledger is full of blocks that the table does
 * not count, so every byte is set to "many". The sample that a thread freed last stays in the table
 * until the thread's next refill at the gate, so that a second free of this sample is detected. */
#include "event/filter.h"

#include "base/atomics.h"
#include "ledger/ledger.h"
#include "ledger/ledger_hooked.h"
#include "ledger/ledger_state.h"
#include "platform/host.h"
#include "platform/state.h"

_Alignas(64) uint8_t filter_pages[FILTER_PAGES];

enum { FILTER_MANY = 255 };

void
filter_add(const void *p)
{
    uint8_t *count = filter_of(p), current = load_relaxed(count);

    while (current != FILTER_MANY && !cas_acq_rel(count, &current, (uint8_t)(current + 1)))
        continue;
}

void
filter_keep(const void *p)
{
    store_relaxed(filter_of(p), (uint8_t)FILTER_MANY);
}

void
filter_drop(const void *p)
{
    uint8_t *count = filter_of(p), current = load_relaxed(count);

    while (current != FILTER_MANY && current != 0 &&
           !cas_acq_rel(count, &current, (uint8_t)(current - 1)))
        continue;
}

void
filter_fill(void)
{
    // Store word by word, because other threads read the table at the same time. A memset would
    // also import a further libc function.
    for (size_t i = 0; i < FILTER_PAGES; i += sizeof(uint64_t))
        store_relaxed((uint64_t *)(void *)&filter_pages[i], UINT64_MAX);
}

void
filter_clear_freed(void)
{
    if (tls.freed_block != NULL)
        filter_drop(tls.freed_block);
    tls.freed_block = NULL;
}

COLD bool
filter_is_nothing(const void *p)
{
    uintptr_t address = (uintptr_t)p;
    const struct ledger_state *s = ledger_state();
    const uint32_t *leaf;

    if (unlikely(dormant_here()))
        return true;
    // A child that has not started recording has no ledger. Otherwise look in the hooked ledger
    // too, which may have blocks of other heaps.
    if (s->ledger == NULL || address & 15 || address >> ARCH_ADDRESS_BITS ||
        ledger_hooked_is_used())
        return false;
    leaf = load_acquire(&s->ledger[address >> LEDGER_SPAN_BITS]);
    return leaf == NULL ||
           load_relaxed(
               &leaf[(address & (((uintptr_t)1 << LEDGER_SPAN_BITS) - 1)) >> s->granule_shift]) ==
               0;
}
