/* amount.c: format numbers for people, identically in all texts and pictures. */
#include "util/amount.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *
amount_count(struct arena *arena, int64_t value)
{
    const char *digits = arena_printf(arena, "%" PRId64, value);
    size_t length = strlen(digits), first = digits[0] == '-';
    char *text = arena_alloc(arena, 2 * length + 1), *to = text;

    for (size_t i = 0; i < length; i++) {
        if (i > first && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    return text;
}

const char *
amount_plural(struct arena *arena, int64_t value, const char *noun)
{
    return arena_printf(arena, "%s %s%s", amount_count(arena, value), noun, value == 1 ? "" : "s");
}

const char *
amount_text(struct arena *arena, int64_t value, bool is_bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = fabs((double)value);
    size_t unit = 0;

    if (!is_bytes)
        return amount_count(arena, value);
    // "%.1f" would round 1023.95 to "1024.0" of the smaller unit.
    while ((unit == 0 ? v >= 1024 : v >= 1023.95) && unit + 1 < countof(units)) {
        v /= 1024;
        unit++;
    }
    if (unit == 0)
        return arena_printf(arena, "%" PRId64 " B", value);
    return arena_printf(arena, "%s%.1f %s", value < 0 ? "-" : "", v, units[unit]);
}

const char *
amount_time(struct arena *arena, uint64_t ns)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{UINT64_C(86400000000000), "d"},
                 {UINT64_C(3600000000000), "h"},
                 {UINT64_C(60000000000), "min"},
                 {1000000000, "s"},
                 {1000000, "ms"}};
    size_t i = 0;
    uint64_t next;

    if (ns == 0)
        return "0";
    while (i + 1 < countof(units) && ns < units[i].ns)
        i++;
    if (i + 1 == countof(units) || units[i].ns == 1000000000)
        return arena_printf(arena, "%.*f %s", ns % units[i].ns ? 1 : 0,
                            (double)ns / (double)units[i].ns, units[i].name);
    next = ns % units[i].ns / units[i + 1].ns;
    return next == 0 ? arena_printf(arena, "%" PRIu64 " %s", ns / units[i].ns, units[i].name)
                     : arena_printf(arena, "%" PRIu64 " %s %" PRIu64 " %s", ns / units[i].ns,
                                    units[i].name, next, units[i + 1].name);
}
