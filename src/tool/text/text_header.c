/* text_header.c: the process, the shown part of the profile, and the totals. */
#include "text/text_view.h"

#include <string.h>
#include <time.h>

#include "analyse/frame_name.h"
#include "profile/collector.h"
#include "view/phrases.h"

enum { PROGRAMS_SHOWN = 5 };

static void text_header_put_totals(struct text_view *v);

static const char *
start_time(struct text_view *v)
{
    time_t seconds = (time_t)(v->base.p->process.start_unix_ns / 1000000000);
    char text[64] = "";
    struct tm tm;

    if (localtime_r(&seconds, &tm) != NULL)
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    return arena_strdup(v->base.arena, text);
}

/* Write the programs of a merged profile, and the time that it covers. */
static void
put_merged(struct text_view *v)
{
    const struct profile *p = v->base.p;
    struct arena *a = v->base.arena;
    const char *programs = "";

    for (size_t i = 0; i < p->program_count && i < PROGRAMS_SHOWN; i++)
        programs = arena_printf(
            a, "%s%s%s %s", programs, i ? " \xc2\xb7 " : "",
            style_count(a, (int64_t)p->programs[i].processes),
            *p->programs[i].executable ? path_basename(p->programs[i].executable) : "unknown");
    if (p->program_count > PROGRAMS_SHOWN)
        programs = arena_printf(a, "%s \xc2\xb7 \xe2\x80\xa6", programs);
    if (p->program_count > 1)
        text_line(v, ATTR_DIM, programs);
    text_line(v, ATTR_DIM,
              arena_printf(a, "%s from %s \xc2\xb7 %s", style_duration(a, p->process.elapsed_ns),
                           start_time(v), sampling_how(a, p)));
}

/* Return the words before the duration of the recording of PR. */
static const char *
verb_of(const struct profile_process *pr)
{
    if (pr->attached)
        return pr->ended ? "recorded for" : "recording for";
    return pr->elapsed_is_least ? "ran at least" : pr->ended ? "ran" : "running for";
}

/* State the blocks from before an attach, which are in no other number. */
static void
put_earlier(struct text_view *v)
{
    const struct profile *p = v->base.p;
    const struct profile_process *pr = &p->process;
    struct arena *a = v->base.arena;
    uint64_t freed = p->losses.unrecorded_frees;

    if (pr->earlier_blocks == 0)
        return;
    text_wrapped(v, ATTR_DIM, "",
                 arena_printf(a, "from before the attach: %s with %s \xc2\xb7 %s freed since",
                              style_plural(a, (int64_t)pr->earlier_blocks, "block"),
                              style_bytes(a, (int64_t)pr->earlier_bytes),
                              style_count(a, (int64_t)freed)));
}

static void
put_process(struct text_view *v)
{
    const struct profile_process *pr = &v->base.p->process;
    struct arena *a = v->base.arena;
    // Blocks found in a copy of memory have no process id.
    const char *who = pr->pid == 0 ? "found in memory"
                                   : arena_printf(a, "pid %s", profile_pid_text(v->base.p, a));
    const char *how = pr->pid == 0
                          ? "the live blocks"
                          : arena_printf(a, "%s %s%s \xc2\xb7 %s",
                                         verb_of(pr),
                                         style_duration(a, pr->elapsed_ns), phrase_end(a, pr),
                                         sampling_how(a, v->base.p));
    const char *both;

    who = arena_printf(a, "%s \xc2\xb7 %s%s", who, pr->attached ? "attached " : "",
                       start_time(v));
    both = arena_printf(a, "%s \xc2\xb7 %s", who, how);

    // A process in a container has two ids, which may leave no room for the recording mode.
    if (style_width(both) <= style_room(&v->style, 0)) {
        text_line(v, ATTR_DIM, both);
    } else {
        text_line(v, ATTR_DIM, who);
        text_wrapped(v, ATTR_DIM, "", how);
    }
    put_earlier(v);
}

/* Return true if stacks of P have LuaJIT. If a program loads it after main, as nginx does, the
 * adapter could not be loaded. */
static bool
has_luajit(const struct profile *p)
{
    for (size_t i = 0; i < p->module_count; i++)
        if (strncmp(path_basename(p->modules[i].path), "libluajit", strlen("libluajit")) == 0)
            return true;
    return false;
}

void
text_frames_kept(struct text_view *v)
{
    if (v->base.p->frames_kept != 0)
        text_line(
            v, ATTR_DIM,
            arena_printf(v->base.arena, "stacks are cut to %s",
                         style_plural(v->base.arena, v->base.p->frames_kept, "innermost frame")));
}

void
text_filters(struct text_view *v)
{
    if (v->base.filter)
        text_line(v, ATTR_WARNING,
                  arena_printf(v->base.arena, "Only stacks that match %s", v->base.filter));
    if (v->base.tags.heap)
        text_line(v, ATTR_WARNING,
                  arena_printf(v->base.arena, "Only blocks of the heap %s", v->base.tags.heap));
    if (v->base.tags.label)
        text_line(v, ATTR_WARNING,
                  arena_printf(v->base.arena, "Only blocks with the label %s", v->base.tags.label));
}

void
text_header(struct text_view *v)
{
    text_line(v, ATTR_BOLD, profile_title(v->base.p, v->base.arena));
    if (v->base.p->merged_processes > 0)
        put_merged(v);
    else
        put_process(v);
    if (*sampling_overhead(v->base.arena, v->base.p) != '\0')
        text_line(v, ATTR_DIM, sampling_overhead(v->base.arena, v->base.p));
    text_incomplete(v);
    text_frames_kept(v);
    if (v->base.p->language_only != 0)
        text_prose(v, ATTR_DIM,
                   arena_printf(v->base.arena,
                                "Only %s functions; --no-language-only adds C, --native the "
                                "interpreter",
                                profile_string(v->base.p, v->base.p->language_only)));
    if (v->base.p->losses.runtime_left_out && !v->base.p->runtime_folded)
        text_prose(v, ATTR_WARNING,
                   "Some stacks have no functions of the interpreter: the call tree was filling");
    if (has_luajit(v->base.p))
        text_prose(v, ATTR_WARNING,
                   "LuaJIT's functions and objects are not shown: its stacks show C functions");
    if (v->base.p->extent != EXTENT_WHOLE)
        text_prose(v, ATTR_WARNING, sampling_extent(v->base.arena, v->base.p));
    text_filters(v);
    strbuf_char(v->out, '\n');
    text_header_put_totals(v);
    text_notes(v);
    text_recording(v);
}

struct totals_widths {
    size_t blocks, bytes;
};

static void
text_header_put_total(struct text_view *v, const struct totals_widths *w, const char *label,
                      const char *blocks, const char *bytes, const char *more)
{
    strbuf_str(v->out, "  ");
    style_left(v->out, label, 19);
    style_right(v->out, blocks, w->blocks);
    strbuf_str(v->out, "  ");
    style_attr(&v->style, v->out, ATTR_BOLD);
    style_right(v->out, bytes, w->bytes);
    style_attr(&v->style, v->out, ATTR_PLAIN);
    if (*more) {
        size_t used =
            25 + w->blocks + (style_width(bytes) > w->bytes ? style_width(bytes) : w->bytes);

        if (style_width(more) > style_room(&v->style, used)) {
            strbuf_char(v->out, '\n');
            text_wrapped(v, ATTR_DIM, "    ", more);
            return;
        }
        strbuf_str(v->out, "  ");
        style_text(&v->style, v->out, ATTR_DIM, more);
    }
    strbuf_char(v->out, '\n');
}

static const char *
total_error(struct text_view *v, enum metric metric)
{
    return sampling_error(v->base.arena, &v->base.stacks->total, &v->base.stacks->errors, metric);
}

/* Return the time of the peak, and its accuracy. */
static const char *
about_peak(struct text_view *v)
{
    struct arena *a = v->base.arena;
    const char *time = "", *more = "";

    if (v->base.p->merged_processes > 1)
        time = "each process's own, added up";
    else if (!v->base.stacks->filtered && v->base.p->peak_elapsed_ns)
        time = arena_printf(a, "after %s", style_duration(a, v->base.p->peak_elapsed_ns));
    if (!v->base.stacks->filtered && v->base.p->peak_error_bytes)
        more = arena_printf(a, "%sor up to %s more", *time ? ", " : "",
                            style_bytes(a, v->base.p->peak_error_bytes));
    return arena_printf(a, "%s%s%s", time, more, total_error(v, METRIC_PEAK));
}

/* Return the definition of short-lived blocks and, if there is ROOM, the share of temporary
 * ones. */
static const char *
about_short_lived(struct text_view *v, size_t room)
{
    const struct counters *c = &v->base.stacks->total;
    const char *all = arena_printf(v->base.arena, "%s (%s before the next)", phrase_short_lived(c),
                                   style_percent(v->base.arena, c->temporary, c->allocations));

    return c->lifetimes_unknown || style_width(all) > room ? phrase_short_lived(c) : all;
}

/* Write the numbers of reads and writes, if they were counted. */
static void
put_accesses(struct text_view *v, const struct totals_widths *w)
{
    const struct profile_accesses *all = &v->base.p->accesses;
    struct arena *a = v->base.arena;
    struct profile_access sum = ACCESS_NONE;

    if (all->granule_bytes == 0 || v->base.p->extent != EXTENT_WHOLE)
        return;
    for (size_t i = 0; i < all->count; i++)
        if (v->base.stacks->site_stacks == NULL || v->base.stacks->site_stacks[all->v[i].site] != 0)
            access_add(&sum, &all->v[i]);
    text_header_put_total(v, w, "Accesses", access_number(a, (double)sum.accesses.total),
                          style_bytes(a, (int64_t)sum.size_bytes.total),
                          arena_printf(a, "of %s, counted %s",
                                       style_plural(a, (int64_t)sum.blocks, "block"),
                                       access_granule_words(a, all)));
}

/* Write the number of garbage collections and the time of the last, if heaps are collected. */
static void
text_header_put_collections(struct text_view *v, const struct totals_widths *w)
{
    struct profile_collected all = profile_collected(v->base.p);
    struct arena *a = v->base.arena;
    const char *when = "";

    if (!all.is_collected || v->base.p->extent != EXTENT_WHOLE)
        return;
    if (all.collections == 0)
        when = "so nothing was reclaimed";
    else if (all.last_ns != 0)
        when = arena_printf(a, "the last after %s", style_duration(a, all.last_ns));
    text_header_put_total(v, w, "Collections",
                          style_count(a, (int64_t)(all.collections & INT64_MAX)), "", when);
}

/* Return the meaning of "live" in programs whose objects end at collections. */
static const char *
about_live(struct text_view *v)
{
    const char *error = total_error(v, METRIC_INUSE);

    return profile_collected(v->base.p).is_collected
               ? arena_printf(v->base.arena, "not yet reclaimed%s", error)
               : error;
}

static void
text_header_put_totals(struct text_view *v)
{
    const struct counters *c = &v->base.stacks->total;
    struct arena *a = v->base.arena;
    const char *count = style_count(a, c->allocations);
    struct totals_widths w = {style_width(count) > 7 ? style_width(count) : 7, 10};

    if (v->base.p->extent == EXTENT_PEAK) {
        text_header_put_total(v, &w, phrase_live(v->base.p),
                              style_count(a, counters_live_blocks(c)),
                              style_bytes(a, counters_live_bytes(c)), "");
        return;
    }
    text_header_put_total(v, &w, "Allocations", count, style_bytes(a, c->allocated_bytes),
                          total_error(v, METRIC_ALLOC));
    text_header_put_total(v, &w, "Frees", style_count(a, c->frees), style_bytes(a, c->freed_bytes),
                          "");
    if (!c->partial)
        text_header_put_total(v, &w, "Peak", style_count(a, c->peak_blocks),
                              style_bytes(a, c->peak_bytes), about_peak(v));
    text_header_put_total(v, &w, phrase_live(v->base.p), style_count(a, counters_live_blocks(c)),
                          style_bytes(a, counters_live_bytes(c)), about_live(v));
    put_accesses(v, &w);
    text_header_put_collections(v, &w);
    if (!c->partial)
        text_header_put_total(v, &w, phrase_short_lived_title(c),
                              style_count(a, counters_within_16(c)),
                              style_percent(a, counters_within_16(c), c->allocations),
                              about_short_lived(v, style_room(&v->style, 25 + w.blocks + w.bytes)));
}
