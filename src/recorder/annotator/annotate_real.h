/* annotate_real.h: replaces functions of the real allocator by functions that annotate its
 * blocks. */
#ifndef ANNOTATOR_ANNOTATE_REAL_H
#define ANNOTATOR_ANNOTATE_REAL_H

#include "allocator/real.h"
#include "annotation/annotation_form.h"
#include "format/format.h"
#include "platform/arch_x86_64.h"

/* Replace the functions in N that return or free blocks, and the operators of the same allocator,
 * if blocks get annotations. Call once, before N is used. */
void annotate_real_in_front(struct real_allocator *n);

/* --- annotate_corruption.c: finds annotated blocks that the program has accessed out of bounds. */

/* Record the corruption S of the annotated block P, and the block whose overflow or underflow most
 * likely caused it. Record each block once. No other thread may be able to free P. FOUND is the
 * kind of check that found the corruption. CALLER is the caller of the free or realloc, {0} if
 * unknown. */
void corruption_found(void *p, struct annotation_state s, enum disk_corruption_found found,
                      struct arch_caller caller);

/* Read the interval of checks from the environment. A check calls RELEASE to release the memory of
 * a block that the program freed during the check. */
void check_start(void (*release)(void *));

/* Check some blocks if a check is due. Call after an allocation or free of the program, in its
 * thread, which must not pin a block by annotated_look. */
void check_event(void);

/* Check all blocks, at the end of the program. Other threads may still run. */
void check_end(void);

#endif
