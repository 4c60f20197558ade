/* view_text.h: a profile as text for people. Writes into a buffer; prints nothing itself. */
#ifndef CLI_VIEW_TEXT_H
#define CLI_VIEW_TEXT_H

#include "analyse/frame_name.h"
#include "analyse/group.h"
#include "analyse/leaks.h"
#include "analyse/tree.h"
#include "report/style.h"
#include "report/table.h"

struct text_view {
    const struct profile *p;
    const struct stacks *stacks;
    const char *filter; // As given, or NULL; for the header.
    struct tag_filter tags; // Likewise.
    const char *label;      // Of tables by the values of one label.
    struct style style;
    struct arena *arena;
    struct strbuf *out;
    size_t limit; // Rows or sites shown; 0 = TEXT_LIMIT, in the overview TEXT_OVERVIEW_LIMIT.
    size_t depth; // Frames shown of a stack.
    const struct stack **seen; // Stacks shown in full so far; see text_site.
    size_t seen_count, seen_capacity;
};

enum { TEXT_LIMIT = 10, TEXT_OVERVIEW_LIMIT = 5, TEXT_DEPTH = 12 };

/* The default report: header, totals, the recorder's account of itself, and the sections. */
void text_overview(struct text_view *v);

/* Header and totals only. */
void text_header(struct text_view *v);

/* The top sites by METRIC, with stacks. */
void text_sites(struct text_view *v, enum metric metric);
void text_groups(struct text_view *v, enum group_by by, enum metric metric);
void text_tree(struct text_view *v, enum tree_direction direction, enum metric metric);
void text_leaks(struct text_view *v, const struct leaks *leaks,
                const struct suppressions *suppressions);

/* The lines above what is still live, in COUNT of NOUN; and what suppressions have hidden. */
void text_leaks_head(struct text_view *v, const struct leaks *leaks, size_t count,
                     const char *noun);
void text_suppressions(struct text_view *v, const struct leaks *leaks,
                       const struct suppressions *suppressions);

/* The program's own heaps and its labels, at most LIMIT of each; nothing if there are none. */
void text_heaps(struct text_view *v, size_t limit);
void text_labels(struct text_view *v, size_t limit);

/* With --heap: the stacks of the blocks that back it, at most LIMIT. */
void text_backings(struct text_view *v, size_t limit);

/* How full HEAP is by METRIC, "62 % of 4.0 MiB"; "" if nothing is known to back it, or if V shows
 * only a part of it. */
const char *text_fullness(const struct text_view *v, const struct profile_heap *heap,
                          enum metric metric);

/* What is not in the bins: a line if the program has heaps of its own. */
void text_not_in_bins(struct text_view *v);

/* The groups of the view BY what METRIC says. */
void text_build_groups(const struct text_view *v, enum group_by by, enum metric metric,
                       struct groups *ret);

/* Frees that ended no live block, by stack; nothing at all when there are none. */
void text_unknown_frees(struct text_view *v);

/* A line for each loss that occurred, of the first COUNT in loss_fields. */
void text_losses(struct text_view *v, size_t count);

/* The rows of GROUPS with all their columns, for text and JSON. */
void text_group_table(const struct text_view *v, const struct groups *groups, enum group_by by,
                      enum metric metric, struct table *ret);

/* METRIC of the rows of GROUPS, by type, summed up by verdict. */
void text_verdicts(const struct groups *groups, enum metric metric,
                   int64_t ret[VERDICT_CERTAIN + 1]);

/* For the views' own files. TEXT in INK on a line of its own, cleaned and cut to the width. */
void text_line(struct text_view *v, enum ink ink, const char *text);
/* A section's title on the left, its total, if not empty, beside it. */
void text_title(struct text_view *v, const char *title, const char *total);
/* The first DEPTH_LIMIT lines of S; NUMBER is where the others were shown before, or 0. */
void text_stack(struct text_view *v, const struct stack *s, size_t depth_limit, size_t number);
bool text_is_wide(const struct text_view *v);

/* METRIC of C, for people; and the title of its column. */
const char *text_metric(struct text_view *v, const struct counters *c, enum metric metric);
const char *text_metric_column(enum metric metric);

/* A block size or a limit of sizes: "24 B", "64 KiB" rather than "64.0 KiB". */
const char *text_size(struct arena *arena, uint64_t bytes);

/* "dir/file.c:12" (the whole path if FULL), or the module's base name if there is no file. From
 * ARENA. */
const char *text_place(const struct profile *p, uint32_t frame, bool full, struct arena *arena);

/* The recorder's losses as a table: the field's name in JSON, its place in struct profile_losses
 * (uint64_t), and what it means, to follow a count. The first is the sum of events. */
struct loss_field {
    const char *key;
    size_t offset;
    const char *meaning;
};
extern const struct loss_field loss_fields[];
extern const size_t loss_field_count;
extern const size_t loss_stack_field_count; // The first that concern allocations and their stacks.
uint64_t loss_value(const struct profile_losses *losses, const struct loss_field *field);

#endif
