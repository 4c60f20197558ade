/* text_stack.c: a stack, one frame per line.
 *
 * Functions are on the left, their locations in a second column. Frames below main (start-up code
 * of the C library) are omitted, and recursion is shown once, with its count. */
#include "text/text_view.h"

#include <inttypes.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "symbol/symbol.h"
#include "view/phrases.h"

struct frame_text {
    const char *function, *place;
    const char *code; // Path of the module, or the language; NULL = not shown.
};

// Locations get at most the width divided by PLACE_SHARE.
enum { STACK_INDENT = 6, PLACE_SHARE = 2 };

enum { ALIGNED_WIDE = 60 };

/* Shorten the functions to the space beside the locations. Return the width of the longest, for
 * aligning the locations. */
static size_t
fit_functions(const struct text_view *v, struct frame_text *texts, size_t count)
{
    size_t longest = 0, place = 0, room = style_room(&v->style, STACK_INDENT + 2);

    for (size_t i = 0; i < count; i++)
        place = style_width(texts[i].place) > place ? style_width(texts[i].place) : place;
    if (place > room / PLACE_SHARE)
        place = room / PLACE_SHARE;
    for (size_t i = 0; i < count; i++) {
        struct frame_text *t = &texts[i];
        size_t own = *t->place ? room - place : room + 2;

        if (!text_is_wide(v))
            t->function =
                style_cut_end(v->base.arena, symbol_shorten(v->base.arena, t->function, own), own);
        if (*t->place && style_width(t->function) > longest)
            longest = style_width(t->function);
    }
    // Full names may be very long; then their locations are not aligned.
    return text_is_wide(v) && longest > ALIGNED_WIDE ? ALIGNED_WIDE : longest;
}

static void
put_frame(struct text_view *v, const struct frame_text *t, size_t width, bool is_first)
{
    size_t place_width = style_room(&v->style, STACK_INDENT + 2 + width);

    strbuf_str(v->out, "      ");
    style_attr(&v->style, v->out, is_first ? ATTR_BOLD : ATTR_PLAIN);
    style_left(v->out, t->function, *t->place ? width : 0);
    style_attr(&v->style, v->out, ATTR_PLAIN);
    if (*t->place) {
        strbuf_str(v->out, "  ");
        style_text(&v->style, v->out, ATTR_DIM,
                   style_cut_start(v->base.arena, t->place, place_width));
    }
    strbuf_char(v->out, '\n');
}

static struct frame_text
describe_frame(const struct text_view *v, const struct stack *s, uint32_t i)
{
    const struct profile_frame *f = &v->base.p->frames[s->frames[i]];
    const char *place = phrase_place(v->base.p, s->frames[i], text_is_wide(v), v->base.arena);

    if (f->function == 0 && f->file == 0) {
        uint32_t location = s->locations[i];

        place = text_is_wide(v) ? place : "";
        if (v->base.p->locations[location].function_start != 0)
            place = frame_place(v->base.p, location, v->base.arena);
    }
    if (f->inlined)
        place = arena_printf(v->base.arena, "%s (inlined)", place);
    return (struct frame_text){
        style_clean(v->base.arena,
                    frame_name(v->base.p, s->frames[i], s->locations[i], v->base.arena)),
        style_clean(v->base.arena, place),
        v->names_modules ? profile_code_of(v->base.p, f) : NULL,
    };
}

void
text_note(struct text_view *v, const char *text)
{
    text_line(v, ATTR_DIM, arena_printf(v->base.arena, "      %s", text));
}

/* Write the code of T on a separate line, unless it is that of the frame before, BEFORE. */
static void
put_code(struct text_view *v, const struct frame_text *t, const char *before)
{
    struct arena *a = v->base.arena;

    if (t->code == NULL || *t->code == '\0' || (before != NULL && strcmp(t->code, before) == 0))
        return;
    text_note(v, arena_printf(a, "in %s",
                              style_cut_start(a, style_clean(a, t->code),
                                              style_room(&v->style, STACK_INDENT + 3))));
}

enum { PERIOD_MAX = 4 };

/* One line of a stack: a frame, or a note that the PERIOD lines above are repeated TIMES. */
struct stack_line {
    uint32_t frame;
    uint32_t period, times;
};

static bool
same_frame(const struct text_view *v, const struct stack *s, uint32_t a, uint32_t b)
{
    const struct profile_frame *x = &v->base.p->frames[s->frames[a]],
                               *y = &v->base.p->frames[s->frames[b]];

    if (x->function == 0 && x->file == 0)
        return s->locations[a] == s->locations[b];
    return x->function == y->function && x->file == y->file && x->line == y->line &&
           x->module == y->module && x->inlined == y->inlined;
}

/* Return the number of times that the PERIOD frames from FIRST on are repeated directly after
 * them. */
static uint32_t
text_stack_repetitions(const struct text_view *v, const struct stack *s, uint32_t first,
                       uint32_t period, uint32_t depth)
{
    uint32_t n = 0;

    while (first + period + n < depth && same_frame(v, s, first + n, first + period + n))
        n++;
    return n / period;
}

/* Fill at most LIMIT LINES with the frames of S. If frames are repeated at least twice, one line
 * replaces the repeats. Return the number of lines. Set *RET_NEXT to the first frame left out. */
static uint32_t
layout_stack(const struct text_view *v, const struct stack *s, uint32_t depth,
             struct stack_line *lines, uint32_t limit, uint32_t *ret_next)
{
    uint32_t n = 0, i = 0;

    while (i < depth && n < limit) {
        uint32_t period = 1, times = 0;

        for (uint32_t k = 1; k <= PERIOD_MAX && times < 2; k++) {
            times = text_stack_repetitions(v, s, i, k, depth);
            period = k;
        }
        if (times < 2 || n + period + 1 > limit) {
            lines[n++] = (struct stack_line){.frame = i++};
            continue;
        }
        for (uint32_t k = 0; k < period; k++)
            lines[n++] = (struct stack_line){.frame = i + k};
        lines[n++] = (struct stack_line){.period = period, .times = times};
        i += period * (times + 1);
    }
    *ret_next = i;
    return n;
}

void
text_stack(struct text_view *v, const struct stack *s, size_t depth_limit, size_t number)
{
    uint32_t depth = stack_useful_depth(v->base.p, s), next, n;
    // If only one frame would be left out, show it: the line that replaces it would be as long.
    uint32_t limit = depth_limit + 1 < depth ? (uint32_t)depth_limit : depth;
    struct stack_line *lines = arena_array(v->base.arena, limit, sizeof *lines);
    struct frame_text *texts = arena_array(v->base.arena, limit, sizeof *texts);
    size_t width, count = 0;

    if (s->flags & NODE_OTHER)
        text_note(v, "other: stacks that no longer fitted into the recorder's call tree");
    n = layout_stack(v, s, depth, lines, limit, &next);
    for (uint32_t i = 0; i < n; i++)
        if (lines[i].period == 0)
            texts[count++] = describe_frame(v, s, lines[i].frame);
    width = fit_functions(v, texts, count);
    count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (lines[i].period == 0) {
            put_code(v, &texts[count], count > 0 ? texts[count - 1].code : NULL);
            put_frame(v, &texts[count++], width, i == 0);
        } else {
            text_note(v, arena_printf(v->base.arena,
                                      "\xe2\x80\xa6 the %s above, %" PRIu32 " times more",
                                      style_plural(v->base.arena, lines[i].period, "frame"),
                                      lines[i].times));
        }
    }
    if (next < depth && number)
        text_note(v, arena_printf(v->base.arena, "\xe2\x80\xa6 %s, see #%zu above",
                                  style_plural(v->base.arena, depth - next, "more frame"), number));
    else if (next < depth)
        text_note(v, arena_printf(v->base.arena, "\xe2\x80\xa6 %s",
                                  style_plural(v->base.arena, depth - next, "more frame")));
    else if (s->flags & NODE_CALLERLESS)
        text_note(v, "\xe2\x80\xa6 whose callers were not recorded");
    else if (s->flags & NODE_SHORTENED)
        text_note(v, "\xe2\x80\xa6 whose callers found no room in the recorder's call tree");
    else if (s->flags & NODE_TRUNCATED)
        text_note(v, v->base.p->frames_kept ? "\xe2\x80\xa6 whose callers were not asked for"
                                            : "\xe2\x80\xa6 and deeper than the recorder follows");
    else if (s->flags & NODE_NO_TABLE)
        text_note(v, "\xe2\x80\xa6 whose callers are unknown: this code has no unwind tables");
    else if (s->flags & NODE_BROKEN)
        text_note(v, "\xe2\x80\xa6 whose callers are unknown: the stack broke off");
    if (s->flags & NODE_GUESSED)
        text_note(v, "a frame was found without unwind information: its callers are a guess");
}
