/* hook_run.h: hooks of one run, from its options to their results. */
#ifndef LAUNCH_HOOK_RUN_H
#define LAUNCH_HOOK_RUN_H

#include "launch/hooks.h"
#include "launch/run_notes.h"

struct hook_run {
    struct hook_list list; // If it is empty, all functions here do nothing.
    const char *path;      // Path of the library of stubs; NULL = none.
    const char *entry;     // Its entry in LD_PRELOAD.
    const char **names;    // Its other names, and those of the libraries for 32-bit programs.
    size_t name_count, name_capacity;
};

/* Write the library of stubs for H->list, to be preloaded before LIBRARY. Takes the arguments of
 * hook_stub_write and returns as it does. */
int hook_run_begin(struct hook_run *h, const char *library, const char *directory,
                   struct arena *arena, struct err *err);

/* Remove the library of stubs, if there is one. */
void hook_run_remove(struct hook_run *h);

/* Add the hooks that were never called, with the reason, to RET (or NULL), and remove the library
 * of stubs. Call it after the run of PROGRAM. If RUNNING is true, processes of the run still live.
 * The library then stays, because programs that they start would report it as missing. */
void hook_run_end(struct hook_run *h, const char *program, bool running, struct run_notes *ret);

#endif
