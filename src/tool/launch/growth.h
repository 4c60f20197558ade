/* growth.h: detect processes of a run with memory that bypassed malloc. */
#ifndef LAUNCH_GROWTH_H
#define LAUNCH_GROWTH_H

#include <sys/types.h>

#include "launch/hooks.h"
#include "launch/run_notes.h"
#include "profile/profile.h"

struct growth {
    struct grown *processes;
    size_t count, capacity;
    uint64_t poll_unix_ns;           // Time of the latest sample.
    struct growth_program *programs; // Programs of the profiles.
    size_t program_count, program_capacity;
    struct arena arena;
};

/* Sample the memory of PID and of the processes that it started, at the time UNIX_NS. Never fails.
 */
void growth_poll(struct growth *g, pid_t pid, uint64_t unix_ns);

/* Add the memory in P, a profile of the run, to the recorded memory of its process, and note the
 * runtime that its program is. */
void growth_recorded(struct growth *g, const struct profile *p);

/* Return true if growth_note would add a note. */
bool growth_is_strange(const struct growth *g);

/* Add a note with a remedy to RET for each process with much more memory than was recorded, and for
 * each process of a runtime that manages its objects itself. Call it after the run. HOOKS were in
 * effect. */
void growth_note(const struct growth *g, const struct hook_list *hooks, struct run_notes *ret);

void growth_release(struct growth *g);

#endif
