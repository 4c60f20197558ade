/* run_notes.h: notes on a run, made from outside, for its summary and profiles (struct
 * profile_note). */
#ifndef LAUNCH_RUN_NOTES_H
#define LAUNCH_RUN_NOTES_H

#include <sys/types.h>

#include "profile/profile.h"

struct run_note {
    pid_t pid;              // Process id; 0 = the whole run.
    const char *executable; // Name of the process; "" = the whole run.
    struct profile_note note;
};

/* All notes on one run; zero is empty. */
struct run_notes {
    struct run_note *v;
    size_t count, capacity;
    struct arena arena; // Owns the notes and their texts.
};

void run_notes_add(struct run_notes *notes, const struct run_note *note);

/* Return true if A and B have the same advice for the same program. */
bool run_notes_alike(const struct run_note *a, const struct run_note *b);

void run_notes_release(struct run_notes *notes);

#endif
