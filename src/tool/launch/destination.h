/* destination.h: paths of a run's profiles. */
#ifndef LAUNCH_DESTINATION_H
#define LAUNCH_DESTINATION_H

#include <sys/types.h>

#include "util/arena.h"
#include "util/err.h"

/* Paths of a run's profiles. Patterns are expanded by the recorder. Relative ones begin at our
 * current directory. */
struct destination {
    // The user's pattern. %n is already replaced, unless %p makes names unique.
    const char *wanted;
    const char *pattern;   // The same, absolute.
    const char *directory; // Directory of the first process's profile.
    // Other processes write into a directory beside the first process's profile.
    bool has_others;
    // The directory for profiles of other processes existed before the run, so it stays even if it
    // is empty.
    bool others_were_present;
    const char *program;   // Name of the program, as in file names.
    struct arena *arena;   // Owns all texts.
};

/* Choose the paths for profiles of the program at PATH. OUTPUT is the user's -o; NULL = none.
 * Returns 0, or HEAPTAP_BAD_INPUT with ERR set for a path that the recorder would later refuse. */
int destination_choose(struct destination *d, const char *output, const char *path,
                       struct arena *arena, struct err *err);

/* Check the length of PATH, absolute or relative to the working directory, for the kernel's limit.
 * Returns 0, or HEAPTAP_BAD_INPUT with ERR set if no file can be created at PATH. */
int destination_check_length(const char *path, struct err *err);

/* Check the directory for profiles of other processes, if there is one and its name does not depend
 * on the first process's id. Returns 0, or HEAPTAP_BAD_INPUT with ERR set if it is unusable.
 * Prints a warning if names in it may become too long. */
int destination_check_others(const struct destination *d, struct err *err);

/* Return the directory for profiles of other processes if it already contains profiles of another
 * run; else NULL. */
const char *destination_others_used(const struct destination *d);

/* Return the pattern for the profiles of all processes except this one, the first. "" = their
 * directory is unusable, and a warning was printed; NULL = use the first process's pattern. */
const char *destination_others_pattern(const struct destination *d);

/* Return the directory for profiles of all processes except PID, the first; NULL = none. */
const char *destination_others_path(const struct destination *d, pid_t pid);

/* Return the directory with profiles of other processes after the run, or NULL if it does not
 * exist. An empty directory that this run created is removed first. */
const char *destination_others_found(const struct destination *d, pid_t pid);

/* Create the directory for profiles of other processes unless it exists, and return it; NULL if it
 * is unusable. */
const char *destination_make_others(const struct destination *d, pid_t pid);

/* Return the path that the profile of process PID of EXECUTABLE would have if it were the first
 * process. */
const char *destination_place(const struct destination *d, const char *executable, pid_t pid);

/* Return true if the directory of the first process's profile was removed or renamed. */
bool destination_is_gone(const struct destination *d);

/* Return 2 if the recorder would name the profile of process PID PATH, 1 if it would do so after a
 * conflict of names, and 0 if the file was moved or copied to PATH. FIRST_PID is the first
 * process. */
unsigned destination_fit(const struct destination *d, const char *path, pid_t pid,
                         pid_t first_pid);

/* Return PATTERN as process PID of EXECUTABLE would expand it; %n becomes 1. */
const char *destination_name(const struct destination *d, const char *pattern,
                             const char *executable, pid_t pid);

#endif
