/* view_json.h: a profile as JSON. docs/json.md is the contract; change both or neither. */
#ifndef CLI_VIEW_JSON_H
#define CLI_VIEW_JSON_H

#include "util/json_out.h"
#include "view/view_text.h"

/* The members that every document begins with: format, version, process, totals. TOTALS and
 * ERRORS are those of the stacks the filter kept. */
void json_head(struct json *j, const char *format, const struct profile *p,
               const struct counters *totals, const struct errors *errors);

/* A snapshot on a line of its own, and its "kind" by enum profile_snapshot_kind. */
void json_snapshot(struct json *j, const struct profile_snapshot *s);
extern const char *const json_snapshot_kinds[SNAPSHOT_KINDS];

/* The frames of S, innermost first. */
void json_stack(struct json *j, const char *key, const struct profile *p, const struct stack *s);

/* "at", or "from" and "to": of which time the counters of P are, unless it is the whole run. */
void json_extent(struct json *j, const struct profile *p);

/* "losses": what the recorder could not record, or only in part. */
void json_losses(struct json *j, const struct profile *p);

/* The number of samples, and 95 % intervals of the estimates, under keys that begin with PREFIX. */
void json_errors(struct json *j, const char *prefix, const struct counters *c,
                 const struct errors *e);

/* One document "heaptap-report" with at most LIMIT sites. */
void json_report(struct json *j, const struct text_view *v, enum metric metric, size_t limit);

/* As json_report, with "rows" instead of sites. */
void json_groups(struct json *j, const struct text_view *v, enum group_by by, enum metric metric,
                 size_t limit);

/* As json_report, with "tree", a list in pre-order with "depth", instead of sites. */
void json_tree(struct json *j, const struct text_view *v, enum tree_direction direction,
               enum metric metric);

/* One document "heaptap-leaks". */
void json_leaks(struct json *j, const struct text_view *v, const struct leaks *leaks,
                const struct suppressions *suppressions, size_t limit);

/* "labels": an object, or null if they are not known; of SET. */
void json_labels(struct json *j, const struct profile_label_set *set);

/* "heaps": malloc and the program's own; and "labels", of the whole process. */
void json_heaps(struct json *j, const struct profile *p);
void json_label_sets(struct json *j, const struct profile *p);

/* "backings": the stacks of the blocks that back heaps. */
void json_backings(struct json *j, const struct text_view *v);

/* The frames of S, innermost first, as a list KEY. */
void json_stack(struct json *j, const char *key, const struct profile *p, const struct stack *s);

/* "suppressed": what each suppression has hidden. */
void json_suppressions(struct json *j, const struct leaks *leaks,
                       const struct suppressions *suppressions);

/* The part that is charged to a line, function or node itself, beside what it calls. */
void json_self(struct json *j, const struct counters *c);

/* The members of C, in the object that is open. */
void json_counters(struct json *j, const struct counters *c);

/* A member VALUE, or null if C is of a moment or a stretch of time, of which it is not known. */
void json_of_whole(struct json *j, const char *key, const struct counters *c, int64_t value);

#endif
