/* session_names.h: names that tell the processes of a session apart. */
#ifndef VIEW_SESSION_NAMES_H
#define VIEW_SESSION_NAMES_H

#include "profile/profile.h"

/* What is known of who a process is; "" = unknown. */
struct session_who {
    const char *program; // The last component of its executable.
    const char *command; // Arguments joined by blanks.
    const char *comm;    // The name of its first thread, which prctl may have changed.
};

/* Who P's process is; texts are P's or from ARENA. */
struct session_who session_who(const struct profile *p, struct arena *arena);

/* Put into RET names for the COUNT processes in WHO: what the program was called as, a name that it
 * has given itself, and of its arguments what other processes of that program do not have, the
 * rarest first. Where nothing differs they are the first arguments. From ARENA. */
void session_names(const struct session_who *who, size_t count, struct arena *arena,
                   const char **ret);

/* NAME, which session_names gave, in about WIDTH columns: directories go first. From ARENA. */
const char *session_name_fit(struct arena *arena, const char *name, size_t width);

#endif
