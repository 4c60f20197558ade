/* gc_live.h: the set of live objects of a collected heap; see gc_live.c.
 *
 * All functions are thread-safe and async-signal-safe.
 */
#ifndef LANGUAGE_GC_LIVE_H
#define LANGUAGE_GC_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Add an object of KIND, below 255, at P. Return false if there is no memory, or if no object can
 * begin at P. */
bool gc_live_put(const void *p, unsigned kind);

/* Remove the object at P. Return its kind; -1 if there was none. */
int gc_live_take(const void *p);

/* Remove each object that IS_DEAD returns true for, and call ENDS with it. */
void gc_live_sweep(bool (*is_dead)(const void *p), void (*ends)(const void *p, unsigned kind));

#endif
