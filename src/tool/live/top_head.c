/* top_head.c: the lines above the rows: the process, its amounts, its rates, and warnings.
 *
 *     app --serve 8080
 *     pid 4711 · running for 3 min 20 s · exact
 *     live 12.3 MiB in 1,234 blocks · peak 20.1 MiB · resident 41.0 MiB
 *     +1.2 MiB/s live · 2.1 MiB/s allocated · 3,400 calls/s · 83.1 % short-lived
 *     warnings: the file was deleted, events were lost, a copy is old, notes of the run
 *
 * The curve has two columns and four rows of dots in each character of braille. A column shows the
 * largest live bytes in its time, and the area below is filled. */
#include "live/top_text.h"

#include <inttypes.h>
#include <time.h>

#include "util/amount.h"
#include "view/phrases.h"

#define NS_PER_S UINT64_C(1000000000)

enum { CURVE_MAX = 512, DOTS_ACROSS = 2, DOTS_DOWN = 4, STEPS = 8 };

struct head {
    const struct top_shown *s;
    const struct profile *p;
    struct arena *arena;
    size_t width, count;
    struct top_line *lines;
};

static void
put(struct head *h, enum attr attr, const char *text)
{
    if (h->count < TOP_HEAD_LINES)
        h->lines[h->count++] = (struct top_line){
            attr, style_cut_end(h->arena, style_clean(h->arena, text), h->width)};
}

/* Return the parts of TEXT that fit, joined by a dot. */
static const char *
join(struct head *h, const char *const *parts, size_t count)
{
    const char *text = "";

    for (size_t i = 0; i < count; i++) {
        const char *longer;

        if (*parts[i] == '\0')
            continue;
        longer = *text == '\0' ? parts[i]
                               : arena_printf(h->arena, "%s \xc2\xb7 %s", text, parts[i]);
        if (*text != '\0' && style_width(longer) > h->width)
            break;
        text = longer;
    }
    return text;
}

static const char *
age(struct head *h)
{
    const struct profile_process *pr = &h->p->process;

    return arena_printf(h->arena, "%s %s%s",
                        pr->attached            ? pr->ended ? "recorded for" : "recording for"
                        : h->s->process.ended ? "ran"
                                              : "running for",
                        style_duration(h->arena, pr->elapsed_ns), phrase_end(h->arena, pr));
}

static void
put_process(struct head *h)
{
    const char *parts[] = {
        h->p->merged_processes > 0
            ? ""
            : arena_printf(h->arena, "pid %s", profile_pid_text(h->p, h->arena)),
        age(h), sampling_how(h->arena, h->p), sampling_overhead(h->arena, h->p)};

    put(h, ATTR_BOLD, profile_title(h->p, h->arena));
    put(h, ATTR_DIM, join(h, parts, countof(parts)));
}

static void
put_amounts(struct head *h)
{
    const struct counters *c = &h->s->digest->stacks.total;
    const struct errors *e = &h->s->digest->stacks.errors;
    struct arena *a = h->arena;
    const char *parts[] = {
        arena_printf(a, "live %s%s in %s", style_bytes(a, counters_live_bytes(c)),
                     sampling_error(a, c, e, METRIC_INUSE),
                     phrase_blocks(a, counters_live_blocks(c), counters_live_bytes(c))),
        arena_printf(a, "peak %s%s", style_bytes(a, c->peak_bytes),
                     sampling_error(a, c, e, METRIC_PEAK)),
        h->s->resident_bytes > 0
            ? arena_printf(a, "resident %s", style_bytes(a, h->s->resident_bytes))
            : ""};

    put(h, ATTR_PLAIN, join(h, parts, countof(parts)));
}

static int64_t
per_second(int64_t amount, double seconds)
{
    return (int64_t)((double)amount / seconds);
}

static void
put_rates(struct head *h)
{
    struct moment_change c =
        moment_difference(&h->s->process.latest->before, &h->s->process.latest->now);
    const struct counters *total = &h->s->digest->stacks.total;
    struct arena *a = h->arena;
    int64_t live;
    const char *parts[4] = {"", "", "", ""};

    if (c.seconds > 0 && !h->s->process.ended) {
        live = per_second(c.live_bytes, c.seconds);
        parts[0] = arena_printf(a, "%s%s/s live", live > 0 ? "+" : "", style_bytes(a, live));
        parts[1] = arena_printf(
            a, "%s/s allocated",
            style_bytes(a, per_second(c.amounts.allocated_bytes, c.seconds)));
        parts[2] = arena_printf(a, "%s calls/s",
                                style_count(a, per_second(c.amounts.allocations, c.seconds)));
    }
    if (!total->partial)
        parts[3] = arena_printf(a, "%s short-lived",
                                style_percent(a, counters_within_16(total), total->allocations));
    put(h, ATTR_PLAIN, join(h, parts, countof(parts)));
}

/* Return the clock time UNIX_NS. */
static const char *
clock_text(struct arena *a, uint64_t unix_ns)
{
    time_t seconds = (time_t)(unix_ns / NS_PER_S);
    char text[32] = "";
    struct tm tm;

    if (localtime_r(&seconds, &tm) != NULL)
        strftime(text, sizeof text, "%H:%M:%S", &tm);
    return arena_strdup(a, text);
}

/* State all that makes the numbers old, unreliable or partial. */
static void
put_warnings(struct head *h)
{
    const struct profile *p = h->p;
    const struct top_digest *d = h->s->digest;
    struct arena *a = h->arena;
    const char *gap = loss_gap(a, &p->losses, p->may_lag && h->s->process.ended);
    uint64_t latest_ns = p->process.start_unix_ns + p->process.elapsed_ns;

    if (h->s->process.trouble != NULL)
        put(h, ATTR_WARNING,
            arena_printf(a, "as it was at %s: %s",
                         clock_text(a, h->s->process.latest->unix_ns), h->s->process.trouble));
    if (p->damage != NULL)
        put(h, ATTR_WARNING, damage_sentence(a, p));
    if (gap != NULL)
        put(h, ATTR_WARNING, arena_printf(a, "the profile %s", gap));
    if (p->may_lag && !h->s->process.ended && h->s->process.latest->unix_ns > latest_ns)
        put(h, ATTR_WARNING,
            arena_printf(a, "a copy of the memory of the process, %s old",
                         style_duration(a, h->s->process.latest->unix_ns - latest_ns)));
    if (p->language_only != 0)
        put(h, ATTR_DIM,
            arena_printf(a, "only %s functions; N shows the interpreter's too",
                         profile_string(p, p->language_only)));
    for (size_t i = 0; i < p->run_note_count && i < 2; i++)
        put(h, ATTR_WARNING, note_sentence(a, &p->run_notes[i]));
    if (h->s->filter != NULL)
        put(h, ATTR_WARNING, arena_printf(a, "only stacks that match %s", h->s->filter));
    if (d->trouble != NULL)
        put(h, ATTR_WARNING, d->trouble);
    if (d->mark_unix_ns != 0 && d->mark.monotonic_ns != d->now.monotonic_ns)
        put(h, ATTR_DIM,
            arena_printf(a, "change since %s", clock_text(a, d->mark_unix_ns)));
}

size_t
top_head(const struct top_shown *s, size_t width, struct arena *arena,
         struct top_line ret[TOP_HEAD_LINES])
{
    struct head h = {.s = s, .arena = arena, .width = width, .lines = ret};

    if (s->digest == NULL) {
        put(&h, ATTR_BOLD, s->process.what);
        put(&h, s->process.trouble != NULL ? ATTR_WARNING : ATTR_DIM,
            s->process.trouble != NULL ? s->process.trouble : "reading the profile\xe2\x80\xa6");
        return h.count;
    }
    h.p = s->digest->p;
    put_process(&h);
    put_amounts(&h);
    put_rates(&h);
    put_warnings(&h);
    return h.count;
}

/* Set VALUES to the largest live bytes of P in each of COUNT equal parts of the run. A part
 * without a reading has the value before it. Return the largest of all; 0 if there is none. */
static int64_t
curve_values(const struct profile *p, int64_t *values, size_t count)
{
    uint64_t all_ns = p->process.elapsed_ns;
    int64_t top = 0, latest = 0;
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t end_ns = (uint64_t)((double)all_ns * (double)(i + 1) / (double)count);

        values[i] = latest;
        for (; at < p->time_point_count && p->timeline[at].elapsed_ns <= end_ns; at++) {
            latest = p->timeline[at].live_bytes;
            values[i] = latest > values[i] ? latest : values[i];
        }
        top = values[i] > top ? values[i] : top;
    }
    latest = counters_live_bytes(&p->totals);
    values[count - 1] = latest > values[count - 1] ? latest : values[count - 1];
    return values[count - 1] > top ? values[count - 1] : top;
}

/* Return the number of STEPS of a line that VALUE fills in line LINE from the bottom. */
static size_t
fill_of(int64_t value, int64_t top, size_t lines, size_t line, size_t steps)
{
    double filled = (double)value / (double)top * (double)(lines * steps) - (double)(line * steps);

    if (line == 0 && value > 0 && filled < 1)
        return 1;
    return filled <= 0 ? 0 : filled >= (double)steps ? steps : (size_t)(filled + 0.5);
}

/* Append the character of braille whose columns are filled LEFT and RIGHT dots high. */
static void
put_braille(struct strbuf *out, size_t left, size_t right)
{
    static const unsigned char left_dots[] = {0, 0x40, 0x44, 0x46, 0x47};
    static const unsigned char right_dots[] = {0, 0x80, 0xa0, 0xb0, 0xb8};
    unsigned dots = left_dots[left] | right_dots[right];

    strbuf_char(out, '\xe2');
    strbuf_char(out, (char)(0xa0 | dots >> 6));
    strbuf_char(out, (char)(0x80 | (dots & 0x3f)));
}

bool
top_curve(const struct profile *p, size_t width, size_t lines, struct arena *arena,
          const char **ret)
{
    static const char *const signs[STEPS + 1] = {" ", ".", ".", ".", ":", ":", ":", "#", "#"};
    int64_t values[CURVE_MAX * DOTS_ACROSS], top;
    bool ascii = ascii_is_wanted();
    size_t across = ascii ? 1 : DOTS_ACROSS;

    width = width < CURVE_MAX ? width : CURVE_MAX;
    if (p->time_point_count < 2 || p->process.elapsed_ns == 0 || width == 0)
        return false;
    top = curve_values(p, values, width * across);
    if (top <= 0)
        return false;
    for (size_t line = 0; line < lines; line++) {
        size_t below = lines - 1 - line;
        struct strbuf text = {0};

        for (size_t i = 0; i < width; i++)
            if (ascii)
                strbuf_str(&text, signs[fill_of(values[i], top, lines, below, STEPS)]);
            else
                put_braille(&text, fill_of(values[2 * i], top, lines, below, DOTS_DOWN),
                            fill_of(values[2 * i + 1], top, lines, below, DOTS_DOWN));
        ret[line] = arena_strdup(arena, strbuf_text(&text));
        strbuf_release(&text);
    }
    return true;
}
