/* json_members.h: members that documents share. docs/json.md is the contract; change both or
 * neither.
 */
#ifndef JSON_JSON_MEMBERS_H
#define JSON_JSON_MEMBERS_H

#include "analyse/functions.h"
#include "analyse/own_code.h"
#include "analyse/stacks.h"
#include "util/json_out.h"

/* The members that every document begins with: format, version, process, totals. TOTALS and
 * ERRORS are those of the stacks the filter kept. */
void json_head(struct json *j, const char *format, const struct profile *p,
               const struct counters *totals, const struct errors *errors);

/* "merged": what P is the sum of; nothing if it is that of one process. */
void json_merged(struct json *j, const struct profile *p);

/* A member TEXT, or null if it is empty or NULL. */
void json_known(struct json *j, const char *key, const char *text);

/* A member VALUE, or null if C is of a moment or a stretch of time, for which it is not known. */
void json_of_whole(struct json *j, const char *key, const struct counters *c, int64_t value);

/* The members of C, in the object that is open. */
void json_counters(struct json *j, const struct counters *c);

/* The part that is charged to a line, function or node itself, beside what it calls. */
void json_self(struct json *j, const struct counters *c);

/* The number of samples, and 95 % intervals of the estimates, under keys that begin with PREFIX. */
void json_errors(struct json *j, const char *prefix, const struct counters *c,
                 const struct errors *e);

/* A snapshot on a line of its own, and its "kind" by enum profile_snapshot_kind. */
void json_snapshot(struct json *j, const struct profile_snapshot *s);
extern const char *const json_snapshot_kinds[SNAPSHOT_KINDS];

/* "at", or "from" and "to": of which time the counters of P are, unless it is the whole run. */
void json_extent(struct json *j, const struct profile *p);

/* "losses": what the recorder could not record, or only in part. */
void json_losses(struct json *j, const struct profile *p);

/* An object for M, one loading of an executable or a library, or, if M is NULL, for what is known
 * by its PATH alone. OWN says whose code it is; NULL in documents that do not. */
void json_module(struct json *j, const struct profile_module *m, const char *path,
                 const struct own_code *own);

/* SET as an object KEY, or null if its labels are not known. */
void json_label_set(struct json *j, const char *key, const struct profile_label_set *set);

/* "labels": those of SET as an object, or null if they are not known. */
void json_labels(struct json *j, const struct profile_label_set *set);

/* An object KEY with A by class of size: its members are s, m, l and x. */
void json_classes(struct json *j, const char *key, const struct amount *a);

#endif
