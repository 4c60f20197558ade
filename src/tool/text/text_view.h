/* text_view.h: a view as text for people, written to a buffer. */
#ifndef TEXT_TEXT_VIEW_H
#define TEXT_TEXT_VIEW_H

#include "analyse/leaks.h"
#include "analyse/totals.h"
#include "image/examined.h"
#include "view/memory_view.h"
#include "view/style.h"
#include "view/view.h"

struct text_view {
    struct view base;
    struct style style;
    struct strbuf *out;
    size_t depth;              // Maximum number of frames shown of a stack.
    const struct stack **seen; // Stacks shown so far; see text_seen.
    size_t seen_count, seen_capacity;
    bool names_modules;        // Stacks name the modules of their frames.
    bool is_callerless;        // No number depends on callers.
    // By module: a function without a name is shown. NULL = not known, any may be.
    bool *nameless;
};

enum { TEXT_LIMIT = 10, TEXT_OVERVIEW_LIMIT = 5, TEXT_DEPTH = 12 };

// Minimum number of columns for a name, even on narrow terminals.
enum { TEXT_NAME_MIN = 12 };

/* Return true if lines are never cut. */
bool text_is_wide(const struct text_view *v);

/* Write TEXT in ATTR on a separate line, cleaned and cut to the width. */
void text_line(struct text_view *v, enum attr attr, const char *text);

/* Write BEFORE and TEXT in ATTR, wrapped at blanks to the width. A longer word is not broken. */
void text_wrapped(struct text_view *v, enum attr attr, const char *before, const char *text);

/* Write TEXT, a sentence or a legend, which must be readable at any width, like text_wrapped. Its
 * leading blanks indent the first line. */
void text_prose(struct text_view *v, enum attr attr, const char *text);

/* Write TEXT dim on a separate line, below column INDENT of the line before; further left if it
 * would not fit there. */
void text_below(struct text_view *v, size_t indent, const char *text);

/* Write TITLE, such as "Damaged: ", and the SENTENCE about the damage (view/phrases.h), wrapped at
 * the width of STYLE, or at 80 columns if STYLE sets none. */
void text_damaged(const struct style *style, const char *title, const char *sentence,
                  struct arena *arena, struct strbuf *out);

/* Write a section's title on the left and, if it is not empty, its total beside the title. */
void text_title(struct text_view *v, const char *title, const char *total);

/* Write "… 12 more rows; --limit shows more" if not all rows were shown. */
void text_more(struct text_view *v, size_t shown, size_t count, const char *noun);

/* Return true if S was shown before, so that its number suffices. Otherwise mark it as shown. */
bool text_seen(struct text_view *v, const struct stack *s);

/* Return METRIC of C, for people. From the view's arena. */
const char *text_metric(struct text_view *v, const struct counters *c, enum metric metric);

/* Return VALUE of METRIC in as few characters as possible. From ARENA. */
const char *text_short(struct arena *arena, int64_t value, enum metric metric);

/* Return the name of FUNCTION, cleaned, and cut to WIDTH unless the view is wide. */
const char *text_function(const struct text_view *v, struct functions *f, uint32_t function,
                          size_t width);

/* --- text_header.c: the lines above a view. */

/* Write a line with the recorder's limit of frames per stack; nothing if it had none. */
void text_frames_kept(struct text_view *v);

/* Write a line for each filter of V. */
void text_filters(struct text_view *v);

/* Write the process, what part of it is shown, its totals, and how it was recorded. */
void text_header(struct text_view *v);

/* --- text_access.c: the lines on the counting of accesses, each a remark of access_remarks. */

void text_access_put_remarks(struct text_view *v);

/* --- text_recording.c: recording modes, losses and the recorder's cost, as text. */

/* Write the recording modes over time, and the upper bound for a site without samples, below the
 * totals; nothing if everything was recorded. */
void text_recording(struct text_view *v);

/* Write the first few snapshots with a name; nothing if there are none. */
void text_snapshots(struct text_view *v);

/* Write the recorder's losses, its memory and its time. */
void text_recorder(struct text_view *v);

/* Write lines above all numbers if the file could not grow. */
void text_incomplete(struct text_view *v);

/* State that pointers to live blocks were not searched for and, if the process runs, the command
 * that does so. */
void text_unchecked(struct text_view *v);

/* Write a line for each nonzero loss among the first COUNT of loss_fields. */
void text_losses(struct text_view *v, size_t count);

/* --- text_stack.c: stacks as text. */

/* Write the first DEPTH_LIMIT lines of S. NUMBER is the stack that has shown the other lines, or
 * 0. */
void text_stack(struct text_view *v, const struct stack *s, size_t depth_limit, size_t number);

/* Write TEXT on a line within a stack. */
void text_note(struct text_view *v, const char *text);

/* --- text_site.c: sites as text. */

/* Write site S with its METRIC, and its stack unless that was shown before. */
void text_site(struct text_view *v, const struct stack *s, enum metric metric);

/* Write the tags and the stack of S, up to V's depth, below its allocated bytes if WITH_AMOUNT. */
void text_whole_stack(struct text_view *v, const struct stack *s, bool with_amount);

/* Write a title and the top sites by METRIC: at least one, at most LIMIT. All but the first have at
 * least PERCENT_MIN of the total. Write nothing if there is no site. */
void text_section(struct text_view *v, enum metric metric, size_t limit, double percent_min);

/* Write the top sites by METRIC with their stacks, or a line saying that there are none. */
void text_sites(struct text_view *v, enum metric metric);

/* --- text_heaps.c: heaps of the program and labels, as text. */

/* Write the program's heaps and labels, at most LIMIT of each; nothing if there are none. */
void text_heaps(struct text_view *v, size_t limit);
void text_labels(struct text_view *v, size_t limit);

/* Write the stacks of the blocks that back the heap of --heap, at most LIMIT. */
void text_backings(struct text_view *v, size_t limit);

/* Write a line about the bytes outside of the bins, if the program has heaps. */
void text_not_in_size_totals(struct text_view *v);

/* --- text_notes.c: notes on a recording, below its totals. */

/* Write a paragraph for each note of the profile, with its advice; nothing if there is none. */
void text_notes(struct text_view *v);

/* --- text_classes.c: shares by class of size or of Lisp type, as bars of letters. */

/* Return a bar of at most WIDTH letters for PART of WHOLE, one letter for each share of one of F's
 * classes: "ssmmmx". From ARENA. */
const char *text_classes(const struct functions *f, struct arena *arena, const struct amount *part,
                         int64_t whole, size_t width);

/* Write the meaning of F's letters on a separate line. */
void text_classes_legend(struct text_view *v, const struct functions *f);

/* Return RULE, a line of the paper's layout with the letters of the size classes, with the letters
 * of F's classes. */
const char *text_classic_rule(const struct text_view *v, const struct functions *f,
                              const char *rule);

/* --- text_corruptions.c: corrupted blocks that were found while the program ran, as text. */

/* Write the section of corrupted blocks, if there are any. */
void text_corruptions(struct text_view *v);

/* --- text_frees.c: frees that ended no live block, as text. */

/* Write the frees without a live block, by stack; nothing if there are none. */
void text_unknown_frees(struct text_view *v);

/* --- text_core.c: the memory of a process as text. */

/* Write the origin of V, the end of the process and, if the memory shows it, the cause. */
void text_core_head(struct text_view *v, const struct examined *e);

/* Describe ADDRESS and its allocation. */
void text_core_place(struct text_view *v, const struct examined *e, uint64_t address);

/* Write the stack of SITE, an id of the file. */
void text_core_site(struct text_view *v, const struct examined *e, uint32_t site);

/* Write the first stacks by live bytes, with the sizes and some addresses of their blocks. */
void text_core_stacks(struct text_view *v, const struct block_stacks *b);

/* --- text_resident.c: resident memory by use, as text. */

void text_resident(struct text_view *v, const struct memory_view *m);

/* --- text_retain.c: what keeps blocks alive, as text. */

void text_retain(struct text_view *v, const struct memory_view *m);

/* --- text_check.c: corrupted blocks, as text. */

/* Write the results of a check of M's memory. */
void text_check(struct text_view *v, const struct memory_view *m);

#endif
