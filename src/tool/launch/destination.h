/* destination.h: where the profiles of a run go. */
#ifndef LAUNCH_DESTINATION_H
#define LAUNCH_DESTINATION_H

#include <sys/types.h>

#include "util/arena.h"
#include "util/err.h"

/* Patterns are as the recorder expands them. Relative ones begin at our current directory. */
struct destination {
    const char *wanted;    // The pattern for the first process, as the user wrote it, but %n, which
                           // is one number for the whole run unless %p makes names new.
    const char *pattern;   // The same, absolute.
    const char *directory; // Where the first process's profile appears.
    bool has_others;       // Other processes write into a directory beside that profile.
    bool others_were_there; // Before the run, so that it stays even if it is empty.
    const char *program;   // The program's name as it appears in file names.
    struct arena *arena;   // Owns all texts.
};

/* Choose the paths for profiles of the program at PATH. OUTPUT is the user's -o; NULL = none.
 * Returns 0, or HEAPTAP_BAD_INPUT with ERR set for a path that the recorder would refuse later. */
int destination_choose(struct destination *d, const char *output, const char *path,
                       struct arena *arena, struct err *err);

/* Look at the directory of other processes, if there is one and its name is known before the first
 * process has an id. HEAPTAP_BAD_INPUT with ERR set if it cannot be taken. */
int destination_check_others(const struct destination *d, struct err *err);

/* That directory if it has profiles already, of another run; else NULL. */
const char *destination_others_used(const struct destination *d);

/* The pattern for the profiles of others than this process, the first one; "" = they cannot go
 * where they should, which has been said; NULL = they go where the first one's goes. */
const char *destination_others_pattern(const struct destination *d);

/* The directory of other processes than PID, the first one; NULL = they have none. */
const char *destination_others_path(const struct destination *d, pid_t pid);

/* The same directory after the run if anything is in it, else NULL; an empty one is removed if it
 * is of this run. */
const char *destination_others_found(const struct destination *d, pid_t pid);

/* Make the same directory unless it is there. NULL if it cannot be taken. */
const char *destination_make_others(const struct destination *d, pid_t pid);

/* Where the profile of process PID of EXECUTABLE would be if it were the first one. */
const char *destination_place(const struct destination *d, const char *executable, pid_t pid);

/* PATTERN as that process would expand it; %n is 1. */
const char *destination_name(const struct destination *d, const char *pattern,
                             const char *executable, pid_t pid);

#endif
