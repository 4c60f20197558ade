/* json_members.h: members that documents share. docs/json.md is the contract; change both or
 * neither. */
#ifndef JSON_JSON_MEMBERS_H
#define JSON_JSON_MEMBERS_H

#include "analyse/stack_functions.h"
#include "analyse/stacks.h"
#include "analyse/user_code.h"
#include "util/json_out.h"

/* Write the first members of every document: format, version, process, totals. TOTALS and ERRORS
 * cover the stacks that passed the filter. */
void json_head(struct json *j, const char *format, const struct profile *p,
               const struct counters *totals, const struct errors *errors);

/* Write "merged": the profiles that P sums; absent for a single process. */
void json_merged(struct json *j, const struct profile *p);

/* Write TEXT as the member KEY; null if TEXT is empty or NULL. */
void json_known(struct json *j, const char *key, const char *text);

/* Write VALUE as the member KEY; null if C covers a moment or a period, where VALUE is unknown. */
void json_of_whole(struct json *j, const char *key, const struct counters *c, int64_t value);

/* Write the members of C into the open object. */
void json_counters(struct json *j, const struct counters *c);

/* Write C, the self value of a line, function or node, as members "self_…". */
void json_self(struct json *j, const struct counters *c);

/* Write the number of samples, and the 95 % intervals of the estimates, under keys that begin with
 * PREFIX. */
void json_errors(struct json *j, const char *prefix, const struct counters *c,
                 const struct errors *e);

/* Write a snapshot on a separate line, with its "kind" from enum profile_snapshot_kind. */
void json_snapshot(struct json *j, const struct profile_snapshot *s);
extern const char *const json_snapshot_kinds[SNAPSHOT_KINDS];

/* Write "at", or "from" and "to": the period of P's counters. Writes nothing for the whole run. */
void json_extent(struct json *j, const struct profile *p);

/* Write "losses": events that were not recorded, or only in part. */
void json_losses(struct json *j, const struct profile *p);

/* Write an object for M, one load of an executable or library. If M is NULL, only PATH is known.
 * OWN determines the kind of its code; NULL in documents without this member. */
void json_module(struct json *j, const struct profile_module *m, const char *path,
                 const struct user_code *own);

/* Write SET as an object KEY; null if its labels are unknown. */
void json_label_set(struct json *j, const char *key, const struct profile_label_set *set);

/* Write "labels": the labels of SET as an object; null if unknown. */
void json_labels(struct json *j, const struct profile_label_set *set);

/* Write A by size class as an object KEY with the members s, m, l and x. */
void json_classes(struct json *j, const char *key, const struct amount *a);

#endif
