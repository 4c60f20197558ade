/* json_report.h: the report as JSON. */
#ifndef JSON_JSON_REPORT_H
#define JSON_JSON_REPORT_H

#include "analyse/group.h"
#include "analyse/tree.h"
#include "json/json_tables.h"
#include "util/json_out.h"
#include "view/view.h"

/* Write one document "heaptap-report" with at most LIMIT sites. */
void json_report(struct json *j, const struct view *v, enum metric metric, size_t limit);

/* Like json_report with all sites. MORE is called at the end and adds members to T's document. */
typedef void json_more(struct json_tables *t, const struct view *v,
                       const struct stack *const *sites, void *arg);
void json_report_more(struct json *j, const struct view *v, enum metric metric, json_more *more,
                      void *arg);

/* Like json_report, with "rows" instead of sites. */
void json_groups(struct json *j, const struct view *v, enum group_by by, enum metric metric,
                 size_t limit);

/* Like json_report, with "tree" instead of sites: a list in pre-order with "depth". */
void json_tree(struct json *j, const struct view *v, enum tree_direction direction,
               enum metric metric);

#endif
