/* annotate_damage.h: annotated blocks that somebody has written out of.
 */
#ifndef ENTRY_ANNOTATE_DAMAGE_H
#define ENTRY_ANNOTATE_DAMAGE_H

#include "account/annotation_form.h"
#include "format/format.h"
#include "platform/arch_x86_64.h"

/* The annotated block P, which is the caller's to free or which it looks at, is in the state S: it
 * is damaged. Note that and who most likely did it, once for each block. FOUND is by whom, and
 * CALLER where a free or realloc was called, {0} if that is not known. */
void damage_found(void *p, struct annotation_state s, enum disk_damage_found found,
                  struct arch_caller caller);

/* Find out how often blocks are to be looked at. RELEASE gives back the memory of a block that has
 * ended while it was looked at. */
void check_start(void (*release)(void *));

/* A thread of the program has allocated or freed something: look at some blocks, if it is time.
 * No block may be held by annotated_look. */
void check_event(void);

#endif
