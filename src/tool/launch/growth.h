/* growth.h: did the processes of a run have memory that did not come through malloc? */
#ifndef LAUNCH_GROWTH_H
#define LAUNCH_GROWTH_H

#include <sys/types.h>

#include "launch/hook_kinds.h"
#include "launch/run_notes.h"
#include "profile/profile.h"

struct growth {
    struct grown *processes;
    size_t count, capacity;
    struct arena arena;
};

/* Look how much memory PID and the processes that it started have; never fails. */
void growth_look(struct growth *g, pid_t pid);

/* Note how much memory P, a profile of the run, accounts for in its process. */
void growth_recorded(struct growth *g, const struct profile *p);

/* Is there anything that growth_note would note? */
bool growth_is_strange(const struct growth *g);

/* The run is over: add to RET the processes that had much more memory than was recorded, and what
 * to do about it. HOOKS were in effect. */
void growth_note(const struct growth *g, const struct hook_list *hooks, struct run_notes *ret);

void growth_release(struct growth *g);

#endif
