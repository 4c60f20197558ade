/* text_classes.c: bars of letters.
 *
 * The paper on mprof splits each number into four size classes, in columns of two digits. The other
 * layouts have one bar instead: its length is the share of the total, and its letters are the
 * classes. That leaves room for names within 80 columns.
 */
#include "text/text_view.h"

static const char class_letters[SIZE_CLASS_COUNT] = "smlx";

const char *
text_classes(struct arena *arena, const struct amount *part, int64_t whole, size_t width)
{
    char *out = arena_alloc(arena, width + 1);
    double sum = 0;
    size_t n = 0;

    if (whole <= 0)
        return out;
    // Rounding the running sum, instead of each class, preserves the length of the bar.
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
    text_prose(v, ATTR_DIM,
               "Bars: the % by size of block: s to 32 B, m to 256, l to 2048, x above");
}
