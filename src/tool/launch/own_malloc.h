/* own_malloc.h: allocators behind memory that did not come from malloc, and how to record them. */
#ifndef LAUNCH_OWN_MALLOC_H
#define LAUNCH_OWN_MALLOC_H

#include "launch/hook_kinds.h"

/* List the allocators inside the program EXECUTABLE and its COUNT MODULES, with a remedy, a line
 * each. HOOKS are in effect already. From ARENA. */
const char *own_malloc_advice(const char *executable, const char *const *modules, size_t count,
                              const struct hook_list *hooks, struct arena *arena);

#endif
