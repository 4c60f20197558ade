/* session.h: profiles that are shown together. */
#ifndef VIEW_SESSION_H
#define VIEW_SESSION_H

#include "profile/profile.h"
#include "view/table.h"

struct view_set {
    struct profile **v; // Largest peak first.
    size_t count;
    struct arena arena; // Arena of the list, and of data computed from its profiles.
    struct merge *sum;  // Session with the profile as v[0]; NULL = none (set_merge, open_set.h).
    int unread; // Exit code of an unreadable profile; 0 = all were read.
    size_t unread_count;
};

/* Make *RET a table with a row for each process of SET. Add the totals of all to *RET_TOTAL and
 * *RET_ERRORS. */
void session_table(const struct view_set *set, struct table *ret, struct counters *ret_total,
                   struct errors *ret_errors);

#endif
