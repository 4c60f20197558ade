/* run_summary.h: the summary that `heaptap run` prints when the program has ended. */
#ifndef COMMAND_RUN_SUMMARY_H
#define COMMAND_RUN_SUMMARY_H

#include "launch/run_notes.h"
#include "launch/run_process.h"

/* A run that has ended, and its profiles. */
struct run_summary {
    const struct run_process *processes;
    size_t count;
    size_t head; // The main process of the run, if there is one, and why.
    enum run_head why;
    struct profile *p; // Profile of the main process; NULL = unreadable.
    bool named;        // P has symbols.
    const char *directory; // Where the others are.
    const struct run_notes *notes;
    size_t running;   // How many are still being written.
    bool interrupted; // Interrupted, and therefore not packed.
};

/* Print the summary on stderr, in about ten lines. */
void run_summary(const struct run_summary *s);

#endif
