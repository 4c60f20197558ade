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

/* Check the directory of other processes, if there is one and its name does not depend on the first
 * process's id. Returns 0, or HEAPTAP_BAD_INPUT with ERR set if it is unusable. */
int destination_check_others(const struct destination *d, struct err *err);

/* Return that directory if it already has profiles of another run; else NULL. */
const char *destination_others_used(const struct destination *d);

/* Return the pattern for the profiles of all processes but this one, the first. "" = their
 * directory is unusable, and an error was printed; NULL = the first process's pattern. */
const char *destination_others_pattern(const struct destination *d);

/* Return the directory of all processes but PID, the first; NULL = none. */
const char *destination_others_path(const struct destination *d, pid_t pid);

/* Return that directory after the run, or NULL if it is empty. Removes an empty directory that this
 * run made. */
const char *destination_others_found(const struct destination *d, pid_t pid);

/* Make that directory unless it exists, and return it; NULL if it is unusable. */
const char *destination_make_others(const struct destination *d, pid_t pid);

/* Return the path that the profile of process PID of EXECUTABLE would have as the first process. */
const char *destination_place(const struct destination *d, const char *executable, pid_t pid);

/* Return PATTERN as that process would expand it; %n is 1. */
const char *destination_name(const struct destination *d, const char *pattern,
                             const char *executable, pid_t pid);

#endif
