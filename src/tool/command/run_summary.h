/* run_summary.h: the summary that `heaptap run` prints when the program has ended. */
#ifndef COMMAND_RUN_SUMMARY_H
#define COMMAND_RUN_SUMMARY_H

#include "launch/run_notes.h"
#include "launch/run_process.h"

/* A run that has ended, and its profiles. */
struct run_summary {
    const struct run_process *processes;
    size_t count;
    size_t head; // Index of the main process, if `why` is not HEAD_NONE.
    enum run_head why;
    struct profile *p; // Profile of the main process; NULL = unreadable.
    bool named;        // P has symbols.
    const char *directory; // Directory of the other processes' profiles.
    const struct run_notes *notes;
    size_t running;   // Number of processes that still write their profile.
    bool interrupted; // Interrupted by the user, and therefore not packed.
};

/* Print the summary on stderr, in about ten lines. */
void run_summary(const struct run_summary *s);

#endif
