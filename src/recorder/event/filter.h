/* filter.h: checks quickly if a free may concern a recorded block. See filter.c. Thread-safe and
 * async-signal-safe. */
#ifndef EVENT_FILTER_H
#define EVENT_FILTER_H

#include "base/base.h"

/* Number of live samples on a page, indexed by page address modulo the table's size; 255 = many. */
enum { FILTER_PAGE_BITS = 12, FILTER_PAGES = 1 << 20 };
extern uint8_t filter_pages[FILTER_PAGES];

static inline uint8_t *
filter_of(const void *p)
{
    return &filter_pages[(uintptr_t)p >> FILTER_PAGE_BITS & (FILTER_PAGES - 1)];
}

/* filter_add: ensure that the free of the block at P is recorded in any recording mode.
 * filter_drop: undo filter_add, because the block ends. */
void filter_add(const void *p);
void filter_drop(const void *p);

/* Ensure that the free of the block at P, which is not a sample, is recorded. This cannot be
 * undone. */
void filter_keep(const void *p);

/* Ensure that every free is looked up from now on. */
void filter_fill(void);

/* Drop the sample that this thread freed last from the table. A second free of it is then handled
 * like the free of any other block. */
void filter_clear_freed(void);

/* Return true if the ledger proves that no recorded block is at P, or if the recorder is dormant.
 * Return false if a recorded block is at P, or may be. Call if the count of P's page is not 0. */
bool filter_is_nothing(const void *p);

#endif
