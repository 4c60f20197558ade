/* view_tables.c: what the tables of mprof have in common.
 *
 * The paper breaks each number down into four classes of size, in columns of two digits. For people
 * one bar says it: its length is the share of all, its letters are the classes, so that at 80
 * columns there is room for the names.
 */
#include "view/view_tables.h"

#include "symbol/symbol.h"
#include "view/view_json.h"

static const char class_letters[SIZE_CLASS_COUNT] = "smlx";

const char *
text_classes(struct arena *arena, const struct amount *part, int64_t whole, size_t width)
{
    char *out = arena_alloc(arena, width + 1);
    double sum = 0;
    size_t n = 0;

    if (whole <= 0)
        return out;
    // Rounding the running sum keeps the length of the bar right, whatever the classes are.
    for (size_t i = 0; i < SIZE_CLASS_COUNT; i++) {
        sum += part->by_class[i] > 0 ? (double)part->by_class[i] : 0;
        while (n < width && (double)n + 0.5 <= sum / (double)whole * (double)width)
            out[n++] = class_letters[i];
    }
    return out;
}

void
text_classes_legend(struct text_view *v)
{
    text_line(v, INK_DIM, "Bars: the % by size of block: s to 32 B, m to 256, l to 2048, x above");
}

const char *
text_function(const struct text_view *v, const struct functions *f, uint32_t function, size_t width)
{
    const char *name = style_clean(v->arena, functions_name(f, function));

    if (text_is_wide(v) || style_width(name) <= width)
        return name;
    return style_cut_end(v->arena, symbol_shorten(v->arena, name, width), width);
}

void
text_more(struct text_view *v, size_t shown, size_t count, const char *noun)
{
    struct arena *a = v->arena;

    if (shown < count)
        text_line(v, INK_DIM,
                  arena_printf(
                      a, "\xe2\x80\xa6 %s; --limit shows more",
                      style_plural(a, (int64_t)(count - shown), arena_printf(a, "more %s", noun))));
}

const char *
text_short(struct arena *arena, int64_t value, enum metric metric)
{
    return metric_is_bytes(metric) ? style_bytes_short(arena, value) : style_count(arena, value);
}
