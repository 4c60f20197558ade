/* gc_live.h: which objects of a collected heap are live, as far as is known; see gc_live.c.
 *
 * All of these may be called by several threads at once and in signal handlers.
 */
#ifndef LANGUAGE_GC_LIVE_H
#define LANGUAGE_GC_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* There is an object of KIND, below 255, at P. False: there is no memory, or objects do not begin
 * there. */
bool gc_live_put(const void *p, unsigned kind);

/* There is no object at P any more. Returns its kind, or -1 if there was none. */
int gc_live_take(const void *p);

/* Remove each object for which IS_DEAD returns true, and call ENDS with it. */
void gc_live_sweep(bool (*is_dead)(const void *p), void (*ends)(const void *p, unsigned kind));

#endif
