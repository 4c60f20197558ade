/* hook_run.h: the hooks of one run, from its options to their results. */
#ifndef LAUNCH_HOOK_RUN_H
#define LAUNCH_HOOK_RUN_H

#include "launch/hook_kinds.h"
#include "launch/run_notes.h"

struct hook_run {
    struct hook_list list; // Empty: nothing is hooked, and all functions here do nothing.
    const char *path;      // Path of the library of stubs; NULL if there is none.
};

/* Write the library of stubs for H->list, to be preloaded before LIBRARY. Arguments and failures as
 * for hook_stub_write. */
int hook_run_begin(struct hook_run *h, const char *library, const char *directory,
                   struct arena *arena, struct err *err);

/* Remove the library of stubs, if there is one. */
void hook_run_remove(struct hook_run *h);

/* After the run of PROGRAM, add to RET (or NULL) the hooks that were never called, with the reason,
 * and remove the library. With LIVING, processes of the run still live, and the library stays:
 * programs that they start would report it as missing. */
void hook_run_end(struct hook_run *h, const char *program, bool running, struct run_notes *ret);

#endif
