/* session.h: profiles that are shown together. */
#ifndef VIEW_SESSION_H
#define VIEW_SESSION_H

#include "profile/profile.h"
#include "view/table.h"

struct view_set {
    struct profile **v; // Largest peak first.
    size_t count;
    struct arena arena; // Of the list, and for what is computed of its profiles.
    struct merge *sum;  // Of which v[0] is the profile; NULL = none (set_merge, open_set.h).
    int unread; // The exit code for one of them that could not be read; 0 = all could be.
    size_t unread_count;
};

/* A row for each process of SET, from the arena of RET; the totals of all are added to *RET_TOTAL
 * and *RET_ERRORS. */
void session_table(const struct view_set *set, struct table *ret, struct counters *ret_total,
                   struct errors *ret_errors);

#endif
