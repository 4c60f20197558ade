/* annotate_real.h: replaces functions of the real allocator by ones that annotate its blocks. */
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

/* Record that the annotated block P, in the state S, is corrupted, and the block that most likely
 * caused it; only once for each block. Requires that no other thread can free P. FOUND is the kind
 * of check that found it. CALLER is the caller of the free or realloc, {0} if unknown. */
void corruption_found(void *p, struct annotation_state s, enum disk_corruption_found found,
                      struct arch_caller caller);

/* Read the interval of checks from the environment. RELEASE releases the memory of a block that was
 * freed while it was checked. */
void check_start(void (*release)(void *));

/* Check some blocks if a check is due. Call after an allocation or free of the program, in its
 * thread, which must not pin a block by annotated_look. */
void check_event(void);

#endif
