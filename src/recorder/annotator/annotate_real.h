/* annotate_real.h: replaces functions of the real allocator by ones that annotate its blocks. */
#ifndef ANNOTATOR_ANNOTATE_REAL_H
#define ANNOTATOR_ANNOTATE_REAL_H

#include "allocator/real.h"

/* Replace the functions in N that return or free blocks, and the operators of the same allocator,
 * if blocks get annotations. Call once, before N is used. */
void annotate_real_in_front(struct real_allocator *n);

#endif
