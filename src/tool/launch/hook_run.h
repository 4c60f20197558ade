/* hook_run.h: the hooks of one run, from the options to what became of them. */
#ifndef LAUNCH_HOOK_RUN_H
#define LAUNCH_HOOK_RUN_H

#include "launch/hook_kinds.h"

struct hook_run {
    struct hook_list list; // Empty: nothing is hooked, and all of this does nothing.
    const char *path;      // Of the library of stubs; NULL if there is none.
};

/* Make the library of stubs for H->list, to be preloaded in front of LIBRARY. See
 * hook_stub_write. */
int hook_run_begin(struct hook_run *h, const char *library, const char *directory,
                   struct arena *arena, struct err *err);

/* Take it away. */
void hook_run_remove(struct hook_run *h);

/* The run of PROGRAM is over: say which hooks were never called, and why, unless QUIET. LIVING
 * processes may still start others, which would complain if the library were gone. */
void hook_run_end(struct hook_run *h, const char *program, bool living, bool quiet,
                  struct arena *arena);

#endif
