/* session.h: profiles that are shown together. */
#ifndef VIEW_SESSION_H
#define VIEW_SESSION_H

#include "profile/profile.h"
#include "view/table.h"

/* The stacks of a profile that pass the filters of a view. */
struct set_total {
    struct counters counters;
    struct errors errors;
};

struct view_set {
    struct profile **v; // Largest peak first; with totals, of the stacks that pass.
    size_t count;
    struct set_total *totals; // Totals of each profile; NULL = all stacks pass.
    const char *path;   // Directory or file that the user named.
    struct arena arena; // Arena of the list, and of data computed from its profiles.
    struct merge *sum;  // Session with the profile as v[0]; NULL = none (set_merge, open_set.h).
    int unread; // Exit code of a profile that was left out; 0 = none was.
    size_t unread_count;  // Profiles that could not be read.
    size_t without_point; // Profiles that lack the moment of --at or --between.
    const char *unrecorded; // Path of a profile whose recording was never on; NULL = none.
};

/* Return the number of profiles that SET lacks. A sum counts them in merged_left_out instead. */
static inline uint32_t
set_left_out(const struct view_set *set)
{
    return set->sum == NULL ? (uint32_t)(set->unread_count + set->without_point) : 0;
}

/* Make *RET a table with a row for each process of SET, which sums the stacks that pass. Add the
 * totals of all to *RET_TOTAL and *RET_ERRORS. */
void session_table(const struct view_set *set, struct table *ret, struct counters *ret_total,
                   struct errors *ret_errors);

/* --- session_names.c: distinctive names for the processes of a session. */

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
