/* group_table.h: the rows of a grouping with all columns, for text and JSON. */
#ifndef VIEW_GROUP_TABLE_H
#define VIEW_GROUP_TABLE_H

#include "analyse/group.h"
#include "view/table.h"
#include "view/view.h"

/* Group the stacks of V by BY, and sort the groups by METRIC, into *RET. From V's arena. */
void group_table_rows(const struct view *v, enum group_by by, enum metric metric,
                      struct groups *ret);

/* Make *RET a table of GROUPS, from V's arena. If FULL, text shows whole paths. */
void group_table_fill(const struct view *v, const struct groups *groups, enum group_by by,
                      enum metric metric, bool full, struct table *ret);

/* Return true if the rows are estimates with known errors. */
bool group_table_has_errors(const struct view *v, enum group_by by);

/* Sum METRIC of GROUPS, which are groups by type, for each verdict. */
void group_table_verdicts(const struct groups *groups, enum metric metric,
                          int64_t ret[VERDICT_CERTAIN + 1]);

#endif
