/* classic.c: percentages of two characters.
 *
 * Whole percents are computed by a division that cannot overflow and never rounds up. Therefore
 * 49.8 is shown as 49, as in the paper, and a part is never shown as all.
 */
#include "view/table.h"

#include <inttypes.h>

static int
whole_percent(int64_t part, int64_t whole)
{
    double p;

    if (part <= 0 || whole <= 0)
        return 0;
    if (part >= whole)
        return 100;
    if (part <= INT64_MAX / 100)
        return (int)(part * 100 / whole);
    // A double has 53 bits, fewer than 63; its rounding must not turn a part into the whole.
    p = (double)part / (double)whole * 100;
    return p >= 100 ? 99 : (int)p;
}

#define TEN(tens)                                                                                  \
    tens "0", tens "1", tens "2", tens "3", tens "4", tens "5", tens "6", tens "7", tens "8",      \
        tens "9"

const char *
classic_percent(int64_t part, int64_t whole)
{
    static const char texts[100][3] = {TEN(" "), TEN("1"), TEN("2"), TEN("3"), TEN("4"),
                                       TEN("5"), TEN("6"), TEN("7"), TEN("8"), TEN("9")};
    int p = whole_percent(part, whole);

    return p < 1 ? "  " : texts[p > 99 ? 99 : p];
}

const char *
classic_share(struct arena *arena, int64_t part, int64_t whole)
{
    const char *percent = classic_percent(part, whole);

    if (percent[1] == ' ')
        return arena_printf(arena, "%" PRId64 "     ", part);
    return arena_printf(arena, "%" PRId64 " (%s)", part, percent);
}

const char *
classic_share_full(struct arena *arena, int64_t part, int64_t whole)
{
    int p = whole_percent(part, whole);

    return arena_printf(arena, "%" PRId64 " (%d)%*s", part, p, p < 10 ? 2 : p < 100, "");
}
