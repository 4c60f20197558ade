/* text_view.h: a view as text for people, written to a buffer. */
#ifndef TEXT_TEXT_VIEW_H
#define TEXT_TEXT_VIEW_H

#include "analyse/stack_functions.h"
#include "view/style.h"
#include "view/view.h"

struct text_view {
    struct view base;
    struct style style;
    struct strbuf *out;
    size_t depth;              // Maximum number of frames shown of a stack.
    const struct stack **seen; // Stacks shown so far; see text_seen.
    size_t seen_count, seen_capacity;
};

enum { TEXT_LIMIT = 10, TEXT_OVERVIEW_LIMIT = 5, TEXT_DEPTH = 12 };

// Minimum number of columns for a name, even on narrow terminals.
enum { TEXT_NAME_MIN = 12 };

/* Return true if lines are never cut. */
bool text_is_wide(const struct text_view *v);

/* Write TEXT in INK on a separate line, cleaned and cut to the width. */
void text_line(struct text_view *v, enum ink ink, const char *text);

/* Write BEFORE and TEXT in INK, wrapped at blanks to the width. A longer word is not broken. */
void text_wrapped(struct text_view *v, enum ink ink, const char *before, const char *text);

/* Write the SENTENCE about damage (view/damage.h), wrapped at 80 columns if STYLE sets no width. */
void text_damaged(const struct style *style, const char *sentence, struct arena *arena,
                  struct strbuf *out);

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
const char *text_function(const struct text_view *v, const struct functions *f, uint32_t function,
                          size_t width);

#endif
