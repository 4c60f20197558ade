/* json_tables.h: frames and stacks of a document, each once, referred to by index.
 *
 *     struct json_tables t;
 *
 *     json_tables_begin(&t, j, p, arena);
 *     json_stack(&t, "stack", s);          "stack": 17     (json_tables.h)
 *     json_tables_end(&t);                 "tables": {"frames": …, "stacks": …}
 *
 * A document in the nested layout has no tables; the same calls then write the nested form. */
#ifndef JSON_JSON_TABLES_H
#define JSON_JSON_TABLES_H

#include "analyse/stacks.h"
#include "analyse/totals.h"
#include "analyse/user_code.h"
#include "profile/profile.h"
#include "util/json_out.h"
#include "view/memory_view.h"
#include "view/view.h"

static inline bool
json_is_nested(const struct json *j)
{
    return j->version == JSON_VERSION_NESTED;
}

/* A frame, identified by its texts; unknown ones are NULL or empty. */
struct json_frame_texts {
    const char *function, *file, *module;
    uint32_t line; // 0 = unknown.
    bool inlined;
};

/* Heaps, or label sets, of P that the document refers to. */
struct json_picks {
    uint32_t *v; // Indices in P, in the order of the entries.
    size_t count, capacity;
    uint32_t *entry_of; // By index in P: entry plus 1; 0 = none.
};

/* Tables of a document. Texts of files, modules and functions are interned, as index plus 1; 0 =
 * unknown. */
struct json_tables {
    struct json *j;
    const struct profile *p; // NULL: frames are identified by their texts.
    struct arena *arena;

    struct strtab files, names;
    // Address of a text to its index, so that a known text is not compared again.
    struct map file_ids, name_ids;
    struct map function_homes; // Key: file << 32 | module. Value: dense id.
    struct map function_ids;   // Key: names id << 32 | home.
    struct map line_ids;     // function << 32 | file << 1 | inlined; then value << 32 | line.
    struct map children;     // Key: parent << 32 | frame.
    struct json_function *functions;
    struct json_module *modules;
    struct json_frame_row *frames;
    struct json_stack_row *stacks;
    size_t function_count, function_capacity, module_count, module_capacity;
    size_t frame_count, frame_capacity, stack_count, stack_capacity;

    struct user_code own; // Finds frames of user code in P.
    bool has_sites;       // Write heaps and labels as well.
    bool has_types;       // Write types as well.
    bool has_languages;   // Some frames are named frames.
    struct json_picks heaps, labels;
    struct strtab types;
    struct map type_ids;

    // By frame and module of P: index plus 1; 0 = not yet in a table.
    uint32_t *frame_of, *module_of;
    uint32_t *stack_of;             // By node of P: index of its whole stack; 0 = none yet.
    uint32_t *depth_of;             // By node: number of frames of its whole stack.
    uint32_t *path;                 // Nodes without an entry, found by json_tables_whole.
    size_t path_capacity;
};

/* Begin the tables of a document that is written to J and has stacks of P. If P is NULL, the stacks
 * come from json_tables_of_texts. */
void json_tables_begin(struct json_tables *t, struct json *j, const struct profile *p,
                       struct arena *arena);

/* Return the index of S, a stack of the profile. */
uint32_t json_tables_stack(struct json_tables *t, const struct stack *s);

/* Return the index of FRAME at LOCATION of the profile. */
uint32_t json_tables_frame(struct json_tables *t, uint32_t frame, uint32_t location);

/* Return the index of HEAP, and of the label set LABELS, of the profile. Only in a document with
 * sites. */
uint32_t json_tables_heap(struct json_tables *t, uint32_t heap);
uint32_t json_tables_labels(struct json_tables *t, uint32_t labels);

/* Return the index of the type NAME. Only in a document with types. */
uint32_t json_tables_type(struct json_tables *t, const char *name);

/* Return the index of the stack with the innermost frame F and the callers PARENT. PARENT 0 is the
 * stack without frames. A text at a known address is not read again. */
uint32_t json_tables_of_texts(struct json_tables *t, uint32_t parent,
                              const struct json_frame_texts *f);

/* Write the tables into the open object, and free all memory outside the arena. */
void json_tables_end(struct json_tables *t);

/* --- json_members.c: members that documents share. docs/json.md is the contract; change both or
 * neither. */

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

/* Write the interval of METRIC as KEY "_low" and "_high" with PREFIX. */
void json_metric_errors(struct json *j, const char *prefix, const char *key,
                        const struct counters *c, const struct errors *e, enum metric metric);

/* If P is cut and callers were sampled, write "estimated" with PREFIX: whether the counters with
 * the errors E depend on callers. */
void json_estimated(struct json *j, const struct profile *p, const char *prefix,
                    const struct errors *e);

/* Write a snapshot on a separate line, with its "kind" from enum profile_snapshot_kind. */
void json_snapshot(struct json *j, const struct profile_snapshot *s);
extern const char *const json_snapshot_kinds[SNAPSHOT_KINDS];

/* Write "at", or "from" and "to": the period of P's counters. Writes nothing for the whole run. */
void json_extent(struct json *j, const struct profile *p);

/* Write "losses": events that were not recorded, or only in part; and "files_without_tables". */
void json_losses(struct json *j, const struct profile *p);

/* Write an object for M, one load of an executable or library. If M is NULL, only PATH is known.
 * OWN determines the kind of its code; NULL in documents without this member. */
void json_module(struct json *j, const struct profile_module *m, const char *path,
                 const struct user_code *own);

/* Write SET as an object KEY; null if its labels are unknown. */
void json_label_set(struct json *j, const char *key, const struct profile_label_set *set);

/* Write "labels": the labels of SET as an object; null if unknown. */
void json_labels(struct json *j, const struct profile_label_set *set);

/* Write A by F's classes as an object KEY with the members s, m, l and x, or c, f, s and o. */
void json_classes(struct json *j, const struct functions *f, const char *key,
                  const struct amount *a);

/* Write the member "classes_of": the meaning of F's classes. */
void json_classes_of(struct json *j, const struct functions *f);

/* --- json_stack.c: stacks and sites as JSON. */

/* Write FRAME at LOCATION into the open object: its index, or its members. */
void json_frame(struct json_tables *t, uint32_t frame, uint32_t location);

/* Write S as the member KEY: its index, or a list of its frames, innermost first. */
void json_stack(struct json_tables *t, const char *key, const struct stack *s);

/* Write the COUNT sites V as the member KEY: as columns, or as a list. */
void json_sites(struct json_tables *t, const char *key, const struct stack *const *v, size_t count);

/* Add members to site I. SIZE_MAX means a dummy site, whose values are not used. */
typedef void json_site_more(struct json_tables *t, size_t i, const void *arg);

/* Like json_sites, with the members that MORE adds to each site. */
void json_sites_more(struct json_tables *t, const char *key, const struct stack *const *v,
                     size_t count, json_site_more *more, const void *arg);

/* --- json_notes.c: notes on a profile. */

/* Write the member "notes": notes that tools stored while recording P, and unreadable parts of
 * P. */
void json_notes(struct json *j, const struct profile *p);

/* --- json_heaps.c: heaps and labels as JSON. */

/* Write "heaps", malloc and the program's own, and "labels"; both cover the whole process. */
void json_heaps(struct json *j, const struct profile *p);
void json_label_sets(struct json *j, const struct profile *p);

/* Write "backings": the stacks of the blocks that back heaps. */
void json_backings(struct json_tables *t, const struct view *v);

/* --- json_resident.c: resident memory as JSON. */

/* Write the member "resident": M's answer. Lists have at most LIMIT entries. */
void json_resident(struct json_tables *t, const struct view *v, const struct memory_view *m,
                   size_t limit);

/* --- json_check.c: corrupted blocks as JSON. */

/* Write block B of E as the object KEY; null if its address is 0. */
typedef void json_check_block(struct json_tables *t, const char *key, const struct view *v,
                              const struct examined *e, const struct block *b);

/* Write the results of checking M's memory as the member "check", with at most LIMIT blocks. */
void json_check(struct json_tables *t, const struct view *v, const struct memory_view *m,
                size_t limit, json_check_block *put_block);

/* --- json_retain.c: what keeps blocks alive, as JSON. */

/* Write the member "retained": M's answer. Lists have at most LIMIT entries. */
void json_retain(struct json_tables *t, const struct view *v, const struct memory_view *m,
                 size_t limit, json_check_block *put_block);

#endif
