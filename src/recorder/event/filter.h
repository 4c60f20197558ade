/* filter.h: fast check whether a free may concern a recorded block. See filter.c. Thread-safe and
 * async-signal-safe. */
#ifndef EVENT_FILTER_H
#define EVENT_FILTER_H

#include "base/base.h"

/* Number of samples that live on a page, by page address modulo the table's size; 255 = many. */
enum { FILTER_PAGE_BITS = 12, FILTER_PAGES = 1 << 20 };
extern uint8_t filter_pages[FILTER_PAGES];

static inline uint8_t *
filter_of(const void *p)
{
    return &filter_pages[(uintptr_t)p >> FILTER_PAGE_BITS & (FILTER_PAGES - 1)];
}

/* filter_add: the free of the block at P must be seen, in any recording mode. filter_drop: it
 * need not be any more, since the block ends. */
void filter_add(const void *p);
void filter_drop(const void *p);

/* The free of the block at P, which is no sample, must be seen. Nothing undoes this. */
void filter_keep(const void *p);

/* From now on every free must be looked up. */
void filter_fill(void);

/* From now on a second free of the sample that this thread has freed last is like the free of any
 * other block. */
void filter_forget_freed(void);

/* The count of P's page is not 0. Return true if the ledger shows that no recorded block is at P;
 * false if one is, or may be. */
bool filter_is_nothing(const void *p);

#endif
