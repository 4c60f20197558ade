/* session_names.h: distinctive names for the processes of a session. */
#ifndef VIEW_SESSION_NAMES_H
#define VIEW_SESSION_NAMES_H

#include "profile/profile.h"

/* Identity of a process; "" = unknown. */
struct session_who {
    const char *program; // Last component of the executable.
    const char *command; // Arguments, joined by blanks.
    const char *comm;    // Name of the first thread, which prctl may have changed.
};

/* Return the identity of P's process. Texts are P's, or from ARENA. */
struct session_who session_who(const struct profile *p, struct arena *arena);

/* Set RET to names for the COUNT processes in WHO. A name consists of the program's name as called,
 * a name that the process set, and the arguments that other processes of the program lack, rarest
 * first. If no arguments differ, it has the first arguments. From ARENA. */
void session_names(const struct session_who *who, size_t count, struct arena *arena,
                   const char **ret);

/* Shorten NAME, a result of session_names, to about WIDTH columns; directories are removed first.
 * From ARENA. */
const char *session_name_fit(struct arena *arena, const char *name, size_t width);

#endif
