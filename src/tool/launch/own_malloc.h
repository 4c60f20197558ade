/* own_malloc.h: find allocators behind memory that did not come from malloc, and how to record
 * them. */
#ifndef LAUNCH_OWN_MALLOC_H
#define LAUNCH_OWN_MALLOC_H

#include "launch/hook_kinds.h"

/* Return a line for each allocator found in the program EXECUTABLE and its COUNT MODULES, with a
 * remedy. HOOKS are already in effect. From ARENA. */
const char *own_malloc_advice(const char *executable, const char *const *modules, size_t count,
                              const struct hook_list *hooks, struct arena *arena);

#endif
