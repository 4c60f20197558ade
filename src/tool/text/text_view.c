/* text_view.c: the elements of text output.
 *
 * Lines are built from elements that were cut to the style's width, so no line is wider, however
 * long a C++ name is. Only sentences are wrapped instead, because half a remedy is useless. All
 * names pass through style_clean.
 */
#include "text/text_view.h"

#include <string.h>

#include "symbol/symbol.h"

// Width of the sentence about damage if the style sets none: people read it, even in a log.
enum { DAMAGED_WIDTH = 80 };

bool
text_is_wide(const struct text_view *v)
{
    return v->style.width == STYLE_NO_LIMIT;
}

void
text_line(struct text_view *v, enum attr attr, const char *text)
{
    style_text(&v->style, v->out, attr,
               style_cut_end(v->base.arena, style_clean(v->base.arena, text), v->style.width));
    strbuf_char(v->out, '\n');
    strbuf_pause(v->out);
}

void
text_wrapped(struct text_view *v, enum attr attr, const char *before, const char *text)
{
    struct arena *a = v->base.arena;
    const char *line = before, *gap = "";

    text = style_clean(a, text);
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        const char *word = arena_strndup(a, text, length);

        if (*gap != '\0' && style_width(line) + 1 + style_width(word) > v->style.width) {
            style_text(&v->style, v->out, attr, line);
            strbuf_char(v->out, '\n');
            line = "    ";
            gap = "";
        }
        line = arena_printf(a, "%s%s%s", line, gap, word);
        gap = " ";
        text += length + strspn(text + length, " ");
    }
    style_text(&v->style, v->out, attr, line);
    strbuf_char(v->out, '\n');
}

void
text_prose(struct text_view *v, enum attr attr, const char *text)
{
    size_t indent = strspn(text, " ");

    text_wrapped(v, attr, arena_strndup(v->base.arena, text, indent), text + indent);
}

void
text_below(struct text_view *v, size_t indent, const char *text)
{
    size_t room = style_room(&v->style, style_width(text));

    text_line(v, ATTR_DIM,
              arena_printf(v->base.arena, "%*s%s", (int)(indent < room ? indent : room), "", text));
}

void
text_damaged(const struct style *style, const char *title, const char *sentence,
             struct arena *arena, struct strbuf *out)
{
    struct text_view v = {.base = {.arena = arena}, .style = *style, .out = out};

    if (text_is_wide(&v))
        v.style.width = DAMAGED_WIDTH;
    text_wrapped(&v, ATTR_WARNING, title, sentence);
}

/* Write a section's title on the left, and its total on the right. */
void
text_title(struct text_view *v, const char *title, const char *total)
{
    size_t room;

    title = style_cut_end(v->base.arena, title, v->style.width);
    room = style_room(&v->style, style_width(title) + 2);
    strbuf_char(v->out, '\n');
    style_text(&v->style, v->out, ATTR_TITLE, title);
    if (*total && room > 0) {
        strbuf_str(v->out, "  ");
        style_text(&v->style, v->out, ATTR_DIM, style_cut_end(v->base.arena, total, room));
    }
    strbuf_str(v->out, "\n");
}

const char *
text_metric(struct text_view *v, const struct counters *c, enum metric metric)
{
    int64_t value = metric_value(c, metric);

    return metric_is_bytes(metric) ? style_bytes(v->base.arena, value)
                                   : style_count(v->base.arena, value);
}

const char *
text_short(struct arena *arena, int64_t value, enum metric metric)
{
    return metric_is_bytes(metric) ? style_bytes_short(arena, value) : style_count(arena, value);
}

/* Return NAME in at most WIDTH columns. Names of scripts have no parameters, and "<module> (import
 * json)" differs from other modules in the brackets. */
static const char *
text_view_script_name(struct arena *a, const char *name, size_t width)
{
    static const char module[] = "<module> ";

    if (style_width(name) > width && strncmp(name, module, sizeof module - 1) == 0)
        name += sizeof module - 1;
    return style_cut_end(a, name, width);
}

const char *
text_function(const struct text_view *v, struct functions *f, uint32_t function, size_t width)
{
    struct arena *a = v->base.arena;
    const char *name = style_clean(a, functions_name(f, function));
    const char *place = style_clean(a, functions_place(f, function));
    bool is_script = function >= FUNCTION_FIRST &&
                     v->base.p->frames[f->v[function].frame].language != 0;

    if (is_script && strcmp(name, "<module>") == 0 && *place != '\0' && !text_is_wide(v) &&
        style_width(name) + strlen(" ()") + style_width(place) > width)
        return arena_printf(a, "(%s)", style_cut_start(a, place, width > 2 ? width - 2 : 1));
    if (*place != '\0') {
        size_t room = width / 2 > strlen(" ()") ? width / 2 - strlen(" ()") : 1;
        size_t beside = style_width(name) + strlen(" ()");

        // A short name leaves more than half.
        if (beside < width && width - beside > room)
            room = width - beside;
        if (!text_is_wide(v) && style_width(place) > room)
            place = style_cut_start(a, place, room);
        place = arena_printf(a, " (%s)", place);
        width -= style_width(place) < width ? style_width(place) : width;
    }
    if (!text_is_wide(v) && style_width(name) > width)
        name = is_script ? text_view_script_name(a, name, width)
                         : style_cut_end(a, symbol_shorten(a, name, width), width);
    return *place != '\0' ? arena_printf(a, "%s%s", name, place) : name;
}

void
text_more(struct text_view *v, size_t shown, size_t count, const char *noun)
{
    struct arena *a = v->base.arena;

    if (shown < count)
        text_line(v, ATTR_DIM,
                  arena_printf(
                      a, "\xe2\x80\xa6 %s; --limit shows more",
                      style_plural(a, (int64_t)(count - shown), arena_printf(a, "more %s", noun))));
}

bool
text_seen(struct text_view *v, const struct stack *s)
{
    for (size_t i = 0; i < v->seen_count; i++)
        if (v->seen[i] == s)
            return true;
    arena_grow(v->base.arena, &v->seen, &v->seen_capacity, v->seen_count, sizeof *v->seen);
    v->seen[v->seen_count++] = s;
    return false;
}
