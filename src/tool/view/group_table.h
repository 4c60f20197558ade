/* group_table.h: the rows of a grouping with all their columns, for text and JSON. */
#ifndef VIEW_GROUP_TABLE_H
#define VIEW_GROUP_TABLE_H

#include "analyse/group.h"
#include "view/table.h"
#include "view/view.h"

/* The groups of the view BY what METRIC says. From its arena. */
void group_table_rows(const struct view *v, enum group_by by, enum metric metric,
                      struct groups *ret);

/* A table of GROUPS; text shows FULL paths where lines are not cut. From the view's arena. */
void group_table_fill(const struct view *v, const struct groups *groups, enum group_by by,
                      enum metric metric, bool full, struct table *ret);

/* Are the rows estimates whose errors are known? */
bool group_table_has_errors(const struct view *v, enum group_by by);

/* METRIC of the rows of GROUPS, by type, summed up by verdict. */
void group_table_verdicts(const struct groups *groups, enum metric metric,
                          int64_t ret[VERDICT_CERTAIN + 1]);

#endif
