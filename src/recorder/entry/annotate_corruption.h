/* annotate_corruption.h: annotated blocks that the program has written out of bounds of. */
#ifndef ENTRY_ANNOTATE_CORRUPTION_H
#define ENTRY_ANNOTATE_CORRUPTION_H

#include "annotation/annotation_form.h"
#include "format/format.h"
#include "platform/arch_x86_64.h"

/* Record that the annotated block P, in the state S, is damaged, and which block most likely caused
 * it; once for each block. Requires that no other thread can free P. FOUND: what found it. CALLER:
 * caller of the free or realloc, {0} if not known. */
void corruption_found(void *p, struct annotation_state s, enum disk_corruption_found found,
                      struct arch_caller caller);

/* Read how often blocks are checked. RELEASE gives back the memory of a block that was freed while
 * it was checked. */
void check_start(void (*release)(void *));

/* Check some blocks if it is time. Call when a thread of the program has allocated or freed; it
 * must not hold a block by annotated_look. */
void check_event(void);

#endif
