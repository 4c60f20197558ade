/* annotate_next.h: functions in front of the allocator behind us that annotate its blocks. */
#ifndef ENTRY_ANNOTATE_NEXT_H
#define ENTRY_ANNOTATE_NEXT_H

#include "allocator/behind.h"

/* If blocks are to be annotated, replace those functions of N that give out blocks and take them
 * back, and the operators of the same allocator. Once, and before N is used. */
void annotate_next_in_front(struct next *n);

#endif
