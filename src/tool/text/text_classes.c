/* text_classes.c: bars of letters.
 *
 * The paper on mprof breaks each number down into four classes of size, in columns of two digits.
 * For people one bar says it: its length is the share of all, its letters are the classes, so that
 * at 80 columns there is room for the names.
 */
#include "text/text_classes.h"

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
