/* own_malloc.h: whose memory it may be that malloc does not know of, and how to get it recorded.
 */
#ifndef LAUNCH_OWN_MALLOC_H
#define LAUNCH_OWN_MALLOC_H

#include "launch/hook_kinds.h"

/* Which allocators the program EXECUTABLE and its COUNT MODULES have inside and what to do, a line
 * each. HOOKS are in effect already. From ARENA. */
const char *own_malloc_advice(const char *executable, const char *const *modules, size_t count,
                              const struct hook_list *hooks, struct arena *arena);

#endif
