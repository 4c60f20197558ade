/* filter.h: is a free perhaps that of a block which was recorded? See filter.c. Any thread may call
 * these, also in signal handlers. */
#ifndef EVENT_FILTER_H
#define EVENT_FILTER_H

#include "base/base.h"

/* Counts, by page of address modulo the table's size, the samples that live there; 255 = many. */
enum { FILTER_PAGE_BITS = 12, FILTER_PAGES = 1 << 20 };
extern uint8_t filter_pages[FILTER_PAGES];

static inline uint8_t *
filter_of(const void *p)
{
    return &filter_pages[(uintptr_t)p >> FILTER_PAGE_BITS & (FILTER_PAGES - 1)];
}

/* The block at P must be seen when it is freed, in any way of recording; and no more, since it
 * ends. */
void filter_add(const void *p);
void filter_drop(const void *p);

/* A block at P that is no sample must be seen too: nobody takes this back. */
void filter_keep(const void *p);

/* From now on every free must be looked at. */
void filter_fill(void);

/* From now on a second free of the sample that this thread has freed last is not told from the free
 * of another block. */
void filter_forget_freed(void);

/* There is something on P's page: is it not P? */
bool filter_is_nothing(const void *p);

#endif
