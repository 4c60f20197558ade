/* text_classes.c: bars of letters.
 *
 * The paper on mprof splits each number into four size classes, in columns of two digits; for Lisp,
 * into four classes of types. The other layouts have one bar instead: its length is the share of
 * the total, and its letters are the classes. That leaves room for names within 80 columns.
 */
#include "text/text_view.h"

#include <string.h>

const char *
text_classes(const struct functions *f, struct arena *arena, const struct amount *part,
             int64_t whole, size_t width)
{
    const char *letters = functions_class_letters(f);
    char *out = arena_alloc(arena, width + 1);
    double sum = 0;
    size_t n = 0;

    if (whole <= 0)
        return out;
    // Rounding the running sum, instead of each class, preserves the length of the bar.
    for (size_t i = 0; i < SIZE_CLASS_COUNT; i++) {
        sum += part->by_class[i] > 0 ? (double)part->by_class[i] : 0;
        while (n < width && (double)n + 0.5 <= sum / (double)whole * (double)width)
            out[n++] = letters[i];
    }
    return out;
}

void
text_classes_legend(struct text_view *v, const struct functions *f)
{
    text_prose(v, ATTR_DIM,
               f->heap_classes != NULL
                   ? "Bars: the % by type: c conses, f floats, s structures, vectors, o others"
                   : "Bars: the % by size of block: s to 32 B, m to 256, l to 2048, x above");
}

const char *
text_classic_rule(const struct text_view *v, const struct functions *f, const char *rule)
{
    static const char size_letters[] = "smlx";
    char *out = arena_strdup(v->base.arena, rule);

    for (char *c = out; *c != '\0'; c++) {
        const char *letter = strchr(size_letters, *c);

        if (letter != NULL)
            *c = functions_class_letters(f)[letter - size_letters];
    }
    return out;
}
