/* access_words.c: verdicts, numbers and remarks on accesses, identical in all views. */
#include "view/phrases.h"

#include <inttypes.h>

#include "view/style.h"

static const struct {
    const char *words, *name;
} verdicts[ACCESS_VERDICTS] = {
    [ACCESS_UNSEEN] = {"used only by uncounted code, if ever", "unseen"},
    [ACCESS_NEVER] = {"never read or written", "never"},
    [ACCESS_NOT_SEEN] = {"not seen used", "not-seen"},
    [ACCESS_WRITE_ONLY] = {"written, never read", "write-only"},
    [ACCESS_NOT_SEEN_READ] = {"written, not seen read", "not-seen-read"},
    [ACCESS_ONCE] = {"touched once", "touched-once"},
    [ACCESS_MOSTLY_UNUSED] = {"most of each block unused", "mostly-unused"},
    [ACCESS_HOT_SMALL] = {"hot and small", "hot-small"},
    [ACCESS_HOT] = {"hot", "hot"},
    [ACCESS_COLD_LONG] = {"cold and long-lived", "cold-long-lived"},
    [ACCESS_COLD] = {"cold", "cold"},
    [ACCESS_USED] = {"used", "used"},
};

const char *
access_verdict_words(enum access_verdict v)
{
    return verdicts[v].words;
}

const char *
access_verdict_name(enum access_verdict v)
{
    return verdicts[v].name;
}

const char *
access_unused_words(bool unproven)
{
    return unproven ? "not seen used" : "never touched";
}

const char *
access_unread_words(bool unproven)
{
    return unproven ? "written and not seen read" : "written and never read";
}

const char *
access_heat_name(enum access_heat h)
{
    return h == HEAT_HOT ? "hot" : h == HEAT_COLD ? "cold" : "warm";
}

const char *
access_granule_words(struct arena *arena, const struct profile_accesses *a)
{
    return arena_printf(arena, "by %" PRIu32 " bytes", a->granule_bytes);
}

const char *
access_number(struct arena *arena, double x)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}};

    for (size_t i = 0; i < countof(units); i++)
        if (x >= units[i].unit)
            return x >= units[i].unit * 1e6
                       ? "very many"
                       : arena_printf(arena, "%.1f%s", x / units[i].unit, units[i].name);
    if (x >= 1000)
        return style_count(arena, (int64_t)(x + 0.5));
    if (x == (double)(int64_t)x)
        return style_count(arena, (int64_t)x);
    return arena_printf(arena, x >= 0.1 ? "%.1f" : x >= 0.001 ? "%.3f" : "%.1e", x);
}

const char *
access_plural(struct arena *arena, uint64_t accesses)
{
    return arena_printf(arena, "%s %s", access_number(arena, (double)accesses),
                        accesses == 1 ? "access" : "accesses");
}

size_t
access_remarks(const struct profile *p, struct arena *arena, const char *ret[ACCESS_REMARKS])
{
    const struct profile_accesses *a = &p->accesses;
    const struct {
        uint64_t blocks;
        const char *text;
    } losses[] = {
        {a->losses.unmerged, "are missing for lack of memory"},
        {a->losses.outside, "are missing: they lay where nothing is counted"},
        {a->losses.unaligned, "may have accesses to a neighbour"},
        {a->losses.undated, "have no lifetime: they began before counting did"},
        {a->losses.unfielded, "are missing from the counts of fields"},
    };
    size_t count = 0;

    if (a->losses.accesses > 0)
        ret[count++] = arena_printf(arena, "%s missing: counters overflowed",
                                    a->losses.accesses == 1
                                        ? "1 access is"
                                        : arena_printf(arena, "%s accesses are",
                                                       style_count(arena,
                                                                   (int64_t)a->losses.accesses)));
    if (!a->atomic && profile_has_threads(p))
        ret[count++] = "Threads may have lost counts to each other: numbers are lower bounds";
    if (!a->ended && a->merge_ns == 0)
        ret[count++] = "Only ended blocks are included: live blocks were not merged";
    else if (!a->ended)
        ret[count++] = arena_printf(arena, "Live blocks are included as they were after %s",
                                    style_duration(arena, a->merge_ns));
    if (!a->looked)
        ret[count++] = "Code that uses blocks without counting is not known, so \"not seen\" is no "
                       "proof";
    else if (!access_is_complete(a))
        ret[count++] = arena_printf(arena, "May use blocks without counting, so \"not seen\" is no "
                                           "proof: %s", a->uncounted);
    if (a->resets > 0)
        ret[count++] = "Counts from before a reset are not included";
    for (size_t i = 0; i < countof(losses) && count < ACCESS_REMARKS; i++)
        if (losses[i].blocks > 0)
            ret[count++] = arena_printf(
                arena, "%s %s", style_plural(arena, (int64_t)losses[i].blocks, "block"),
                losses[i].text);
    return count;
}
