/* time_frame.h: common parts of pictures over time: page, title, time axis, named snapshots,
 * colours. Private to src/tool/svg. */
#ifndef SVG_TIME_FRAME_H
#define SVG_TIME_FRAME_H

#include "analyse/timeline.h"
#include "analyse/totals.h"
#include "util/strbuf.h"

/* Pixels. */
enum { FRAME_WIDTH = 1200, FRAME_LEFT = 84, FRAME_RIGHT = 20, FRAME_TOP = 112 };

/* Number of columns of the curves. */
enum { FRAME_COLUMNS = 240 };

/* Number of colours g0, g1, … for growing areas. */
enum { FRAME_GROWING = 4 };

struct time_frame {
    const struct profile *p;
    const struct timeline *t;
    struct arena *arena;
    struct strbuf *out;
    double right; // Right end of the time axis.
    struct functions functions; // All functions.
    const char **names;         // Shortened labels by function; NULL = not yet shortened.
};

/* Return the x of a moment, and of the left edge of COLUMN of FRAME_COLUMNS. */
double frame_x(const struct time_frame *f, uint64_t elapsed_ns);
double frame_column_x(const struct time_frame *f, size_t column);

/* Add the functions of STACKS to F, for frame_function. frame_end releases them. */
void frame_name_functions(struct time_frame *f, const struct stacks *stacks);

/* Write the beginning of the document with its styles, the title SUBJECT, and LINE beneath it. */
void frame_begin(const struct time_frame *f, double height, const char *subject, const char *line);

/* Return the beginning of LINE for frame_begin: "prog --test; pid 4711; ", or "" for a sum of
 * processes. From F's arena. */
const char *frame_process(const struct time_frame *f);

/* Write the time axis at BOTTOM with its grid up to TOP; then, on top of everything, the named
 * snapshots; then the end of the document. */
void frame_axis(const struct time_frame *f, double top, double bottom);
void frame_names(const struct time_frame *f, double bottom);
void frame_end(struct time_frame *f);

/* Write at most ROOM characters of TEXT at X, Y with ATTRIBUTES. */
void frame_text(const struct time_frame *f, double x, double y, const char *attributes,
                const char *text, size_t room);

/* Write an entry of the legend at Y: VALUE with ATTRIBUTES at the right, and NAME, cut to the
 * remaining space. */
void frame_entry(const struct time_frame *f, double y, const char *name, const char *value,
                 const char *attributes);

/* Return VALUE with the unit of the series: bytes, or bytes or calls per second. From F's arena, as
 * the results of the next two. */
const char *frame_amount(const struct time_frame *f, double value);

/* Return the class of a colour for NAME that is not in *TAKEN, and add it there. */
const char *frame_colour(const struct time_frame *f, const char *name, uint32_t *taken);

/* Return the name of frame I of S, shortened for people; for I = depth, the name of its root
 * (stack_root), if it has one. Files distinguish functions of one name. */
const char *frame_function(struct time_frame *f, const struct stack *s, uint32_t i);

/* Write the tooltip of boxes of S: FIRST_LINE, then one frame per line, then the root
 * (stack_root). */
void frame_stack_title(struct time_frame *f, const struct stack *s, const char *first_line);

#endif
