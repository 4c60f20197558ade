/* view_text.c: the text views.
 *
 * What developers ask first comes first: what is still live, who held the peak, then sizes, then
 * churn. A site is a headline of numbers with its stack beneath; a stack that was shown in an
 * earlier section is referred to by its number, so that the overview stays readable. What lies
 * beneath main (the start-up code of the C library) is left out.
 *
 * Every line is built from pieces that were cut to the style's width, so no line is wider, however
 * long a C++ name is. All names pass through style_clean.
 */
#include "view/view_text.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "symbol/symbol.h"
#include "view/sampling.h"

// clang-format off
#define FIELD(name, text) {#name, offsetof(struct profile_losses, name), text}
// clang-format on

const struct loss_field loss_fields[] = {
    FIELD(events, "events lost"),
    FIELD(reentrant_events, "lost in signal handlers that interrupted the recorder"),
    FIELD(no_memory_events, "lost because the recorder got no memory"),
    FIELD(no_thread_events, "lost because more threads ran at once than it follows"),
    FIELD(heap_events, "lost of heaps of the program's own"),
    FIELD(unseen_allocators, "C libraries whose own malloc could not be recorded"),
    FIELD(ledger_events, "blocks whose free could not be followed"),
    FIELD(other_site_events, "allocations charged to \"other\": the call tree was full"),
    FIELD(label_sets, "sets of labels that found no room: charged to \"other labels\""),
    FIELD(truncated_stacks, "allocations with a stack deeper than the recorder follows"),
    FIELD(guessed_frames, "allocations with a guessed frame (no unwind information)"),
    FIELD(frames_without_module, "code addresses without a name: too many libraries"),
    FIELD(unwind_failures, "allocations whose stack broke off"),
    FIELD(unknown_frees, "frees of what was not live (foreign, older or freed twice)"),
    FIELD(double_frees, "of them freed twice"),
    FIELD(unrecorded_frees, "frees of blocks from when not all was recorded"),
    FIELD(inherited_frees, "frees of blocks from before the fork"),
    FIELD(overwritten_blocks, "blocks whose free was not seen"),
    FIELD(failed_calls, "calls that returned no block"),
    FIELD(history_records, "values at a snapshot that found no room: later ones stand for them"),
};
const size_t loss_field_count = countof(loss_fields);
const size_t loss_stack_field_count = 13;

static const char *const metric_titles[] = {
    [METRIC_INUSE] = "Still live",    [METRIC_PEAK] = "At the peak",  [METRIC_ALLOC] = "Allocated",
    [METRIC_TEMPORARY] = "Temporary", [METRIC_COUNT] = "Allocations",
};

// What is less is not worth a stack in the overview.
#define OVERVIEW_PERCENT_MIN 0.5

enum { PROGRAMS_SHOWN = 5 };

static void put_totals(struct text_view *v);
static void put_recorder(struct text_view *v);
static void put_sizes(struct text_view *v);
static void put_section(struct text_view *v, enum metric metric, size_t limit, double percent_min);

uint64_t
loss_value(const struct profile_losses *losses, const struct loss_field *field)
{
    uint64_t value;

    memcpy(&value, (const char *)losses + field->offset, sizeof value);
    return value;
}

/* The last two components of PATH: enough to know the file by. */
static const char *
path_tail(const char *path)
{
    const char *s = path_basename(path);

    for (const char *k = s - 1; k > path; k--)
        if (k[-1] == '/')
            return k;
    return s > path && s - 1 > path ? path : s;
}

const char *
text_place(const struct profile *p, uint32_t frame, bool full, struct arena *arena)
{
    const struct profile_frame *f = &p->frames[frame];
    const char *file = profile_string(p, f->file), *module = p->modules[f->module].path;

    if (f->file == 0)
        return full ? module : path_basename(module);
    if (!full)
        file = path_tail(file);
    return f->line ? arena_printf(arena, "%s:%" PRIu32, file, f->line) : file;
}

bool
text_is_wide(const struct text_view *v)
{
    return v->style.width == STYLE_NO_LIMIT;
}

void
text_line(struct text_view *v, enum ink ink, const char *text)
{
    style_text(&v->style, v->out, ink,
               style_cut_end(v->arena, style_clean(v->arena, text), v->style.width));
    strbuf_char(v->out, '\n');
    strbuf_pause(v->out);
}

static const char *
start_time(struct text_view *v)
{
    time_t seconds = (time_t)(v->p->process.start_unix_ns / 1000000000);
    char text[64] = "";
    struct tm tm;

    if (localtime_r(&seconds, &tm) != NULL)
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    return arena_strdup(v->arena, text);
}

/* Of a merged profile: which programs, and when they ran. */
static void
put_merged(struct text_view *v)
{
    const struct profile *p = v->p;
    struct arena *a = v->arena;
    const char *programs = "";

    for (size_t i = 0; i < p->program_count && i < PROGRAMS_SHOWN; i++)
        programs = arena_printf(
            a, "%s%s%s %s", programs, i ? " \xc2\xb7 " : "",
            style_count(a, (int64_t)p->programs[i].processes),
            *p->programs[i].executable ? path_basename(p->programs[i].executable) : "unknown");
    if (p->program_count > PROGRAMS_SHOWN)
        programs = arena_printf(a, "%s \xc2\xb7 \xe2\x80\xa6", programs);
    if (p->program_count > 1)
        text_line(v, INK_DIM, programs);
    text_line(v, INK_DIM,
              arena_printf(a, "%s from %s \xc2\xb7 %s", style_duration(a, p->process.elapsed_ns),
                           start_time(v), sampling_how(a, p)));
    if (p->merged_left_out > 0)
        text_line(v, INK_WARNING,
                  arena_printf(a, "%s could not be read, so not in here",
                               style_plural(a, p->merged_left_out, "profile")));
    if (p->merged_damaged > 0)
        text_line(v, INK_WARNING,
                  arena_printf(a, "%s damaged, and in here as far as readable",
                               style_plural(a, p->merged_damaged, "profile")));
}

static void
put_process(struct text_view *v)
{
    const struct profile_process *pr = &v->p->process;
    const char *here = pr->pid_here ? arena_printf(v->arena, " (here %" PRIu32 ")", pr->pid_here)
                                    : "";

    text_line(v, INK_DIM,
              arena_printf(v->arena, "pid %" PRIu32 "%s \xc2\xb7 %s \xc2\xb7 %s %s \xc2\xb7 %s",
                           pr->pid, here, start_time(v), pr->ended ? "ran" : "running for",
                           style_duration(v->arena, pr->elapsed_ns), sampling_how(v->arena, v->p)));
}

void
text_header(struct text_view *v)
{
    text_line(v, INK_BOLD, profile_title(v->p, v->arena));
    if (v->p->merged_processes > 0)
        put_merged(v);
    else
        put_process(v);
    if (v->p->frames_kept)
        text_line(v, INK_DIM,
                  arena_printf(v->arena, "stacks are cut to %s",
                               style_plural(v->arena, v->p->frames_kept, "innermost frame")));
    if (v->p->extent != EXTENT_WHOLE)
        text_line(v, INK_WARNING, sampling_extent(v->arena, v->p));
    if (v->filter)
        text_line(v, INK_WARNING, arena_printf(v->arena, "Only stacks that match %s", v->filter));
    if (v->tags.heap)
        text_line(v, INK_WARNING,
                  arena_printf(v->arena, "Only blocks of the heap %s", v->tags.heap));
    if (v->tags.label)
        text_line(v, INK_WARNING,
                  arena_printf(v->arena, "Only blocks with the label %s", v->tags.label));
    strbuf_char(v->out, '\n');
    put_totals(v);
    sampling_text(v);
}

static const char *
live_word(const struct text_view *v)
{
    if (v->p->extent != EXTENT_WHOLE)
        return v->p->extent == EXTENT_AT ? "Live then" : "Growth of live";
    return v->p->process.ended ? "Still live at end" : "Live now";
}

struct totals_widths {
    size_t blocks, bytes;
};

static void
put_total(struct text_view *v, const struct totals_widths *w, const char *label, const char *blocks,
          const char *bytes, const char *more)
{
    strbuf_str(v->out, "  ");
    style_left(v->out, label, 19);
    style_right(v->out, blocks, w->blocks);
    strbuf_str(v->out, "  ");
    style_ink(&v->style, v->out, INK_BOLD);
    style_right(v->out, bytes, w->bytes);
    style_ink(&v->style, v->out, INK_PLAIN);
    if (*more) {
        size_t used =
            25 + w->blocks + (style_width(bytes) > w->bytes ? style_width(bytes) : w->bytes);

        strbuf_str(v->out, "  ");
        style_text(&v->style, v->out, INK_DIM,
                   style_cut_end(v->arena, more, style_room(&v->style, used)));
    }
    strbuf_char(v->out, '\n');
}

static const char *
total_error(struct text_view *v, enum metric metric)
{
    return sampling_error(v->arena, &v->stacks->total, &v->stacks->errors, metric);
}

/* When the peak was, and how well it is known. */
static const char *
about_peak(struct text_view *v)
{
    struct arena *a = v->arena;
    const char *time = "", *more = "";

    if (v->p->merged_processes > 1)
        time = "each process's own, added up";
    else if (!v->stacks->filtered && v->p->peak_elapsed_ns)
        time = arena_printf(a, "after %s", style_duration(a, v->p->peak_elapsed_ns));
    if (!v->stacks->filtered && v->p->peak_error_bytes)
        more = arena_printf(a, "%sor up to %s more", *time ? ", " : "",
                            style_bytes(a, v->p->peak_error_bytes));
    return arena_printf(a, "%s%s%s", time, more, total_error(v, METRIC_PEAK));
}

static void
put_totals(struct text_view *v)
{
    const struct counters *c = &v->stacks->total;
    struct arena *a = v->arena;
    const char *count = style_count(a, c->allocations);
    struct totals_widths w = {style_width(count) > 7 ? style_width(count) : 7, 10};

    put_total(v, &w, "Allocations", count, style_bytes(a, c->allocated_bytes),
              total_error(v, METRIC_ALLOC));
    put_total(v, &w, "Frees", style_count(a, c->frees), style_bytes(a, c->freed_bytes), "");
    if (!c->partial)
        put_total(v, &w, "Peak", style_count(a, c->peak_blocks), style_bytes(a, c->peak_bytes),
                  about_peak(v));
    put_total(v, &w, live_word(v), style_count(a, counters_live_blocks(c)),
              style_bytes(a, counters_live_bytes(c)), total_error(v, METRIC_INUSE));
    if (!c->partial)
        put_total(v, &w, "Temporary", style_count(a, c->temporary),
                  style_percent(a, c->temporary, c->allocations), "of allocations");
}

void
text_losses(struct text_view *v, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t n = loss_value(&v->p->losses, &loss_fields[i]);

        if (n)
            text_line(v, INK_WARNING,
                      arena_printf(v->arena, "  %s %s", style_count(v->arena, (int64_t)n),
                                   loss_fields[i].meaning));
    }
}

/* What recording cost in time, or "" if none of it was measured. */
static const char *
recorder_share(struct text_view *v)
{
    const struct profile_recorder *r = &v->p->recorder;
    double events = (double)(v->p->totals.allocations + v->p->totals.frees);

    // The cost of an event times estimated events would be no cost of ours.
    if (profile_is_estimate(v->p) || v->p->extent != EXTENT_WHOLE || v->p->merged_processes > 1 ||
        r->events_timed == 0 || v->p->process.elapsed_ns == 0)
        return "";
    return arena_printf(v->arena, " and ~%.1f %% of the time",
                        100.0 * (double)r->timed_ns / (double)r->events_timed * events /
                            (double)v->p->process.elapsed_ns);
}

static void
put_recorder(struct text_view *v)
{
    const struct profile_recorder *r = &v->p->recorder;
    uint64_t frames = r->frames_reused + r->frames_unwound;
    struct arena *a = v->arena;

    strbuf_char(v->out, '\n');
    text_line(v, v->p->losses.events ? INK_WARNING : INK_DIM,
              arena_printf(a, "  Recorder           %s lost \xc2\xb7 uses %s%s",
                           style_plural(a, (int64_t)v->p->losses.events, "event"),
                           style_bytes(a, (int64_t)r->memory_bytes), recorder_share(v)));
    if (frames)
        text_line(
            v, INK_DIM,
            arena_printf(a, "                     %.1f %% of all frames were verified, not unwound",
                         100.0 * (double)r->frames_reused / (double)frames));
    text_losses(v, loss_field_count);
    if (v->p->losses.file_failed)
        text_line(v, INK_WARNING,
                  "  The profile's file could not grow; later events may be missing.");
}

/* A section's title on the left, its total on the right. */
void
text_title(struct text_view *v, const char *title, const char *total)
{
    strbuf_char(v->out, '\n');
    style_text(&v->style, v->out, INK_TITLE, title);
    if (*total) {
        strbuf_str(v->out, "  ");
        style_text(&v->style, v->out, INK_DIM,
                   style_cut_end(v->arena, total, v->style.width - style_width(title) - 2));
    }
    strbuf_str(v->out, "\n");
}

void
text_overview(struct text_view *v)
{
    size_t limit = v->limit ? v->limit : TEXT_OVERVIEW_LIMIT;

    text_header(v);
    sampling_snapshots(v);
    put_recorder(v);
    text_unknown_frees(v);
    text_heaps(v, limit);
    text_backings(v, limit);
    text_labels(v, limit);
    put_section(v, METRIC_INUSE, limit, OVERVIEW_PERCENT_MIN);
    put_section(v, METRIC_PEAK, limit, OVERVIEW_PERCENT_MIN);
    if (!v->stacks->filtered && v->p->extent == EXTENT_WHOLE)
        put_sizes(v);
    put_section(v, METRIC_ALLOC, limit, OVERVIEW_PERCENT_MIN);
    put_section(v, METRIC_TEMPORARY, limit, OVERVIEW_PERCENT_MIN);
}

struct frame_text {
    const char *function, *place;
};

enum { STACK_INDENT = 6, PLACE_SHARE = 2 }; // Places get at most one part in PLACE_SHARE.

/* Shorten the functions to what the places leave of the line; returns the width of the longest, so
 * that the places stand in one column. */
static size_t
fit_functions(const struct text_view *v, struct frame_text *texts, size_t count)
{
    size_t longest = 0, place = 0, room = style_room(&v->style, STACK_INDENT + 2);

    for (size_t i = 0; i < count; i++)
        place = style_width(texts[i].place) > place ? style_width(texts[i].place) : place;
    if (place > room / PLACE_SHARE)
        place = room / PLACE_SHARE;
    for (size_t i = 0; i < count; i++) {
        struct frame_text *t = &texts[i];
        size_t own = *t->place ? room - place : room + 2;

        if (!text_is_wide(v))
            t->function = style_cut_end(v->arena, symbol_shorten(v->arena, t->function, own), own);
        if (*t->place && style_width(t->function) > longest)
            longest = style_width(t->function);
    }
    return longest;
}

static void
put_frame(struct text_view *v, const struct frame_text *t, size_t width, bool is_first)
{
    size_t place_width = style_room(&v->style, STACK_INDENT + 2 + width);

    strbuf_str(v->out, "      ");
    style_ink(&v->style, v->out, is_first ? INK_BOLD : INK_PLAIN);
    style_left(v->out, t->function, *t->place ? width : 0);
    style_ink(&v->style, v->out, INK_PLAIN);
    if (*t->place) {
        strbuf_str(v->out, "  ");
        style_text(&v->style, v->out, INK_DIM, style_cut_start(v->arena, t->place, place_width));
    }
    strbuf_char(v->out, '\n');
}

static struct frame_text
describe_frame(const struct text_view *v, const struct stack *s, uint32_t i)
{
    const struct profile_frame *f = &v->p->frames[s->frames[i]];
    const char *place = text_place(v->p, s->frames[i], text_is_wide(v), v->arena);

    if (f->function == 0 && f->file == 0)
        place = text_is_wide(v) ? place : "";
    if (f->inlined)
        place = arena_printf(v->arena, "%s (inlined)", place);
    return (struct frame_text){
        style_clean(v->arena, frame_name(v->p, s->frames[i], s->locations[i], v->arena)),
        style_clean(v->arena, place),
    };
}

static void
put_note(struct text_view *v, const char *text)
{
    text_line(v, INK_DIM, arena_printf(v->arena, "      %s", text));
}

enum { PERIOD_MAX = 4 };

/* One line of a stack: a frame, or that the PERIOD lines above come TIMES more. */
struct stack_line {
    uint32_t frame;
    uint32_t period, times;
};

static bool
same_frame(const struct text_view *v, const struct stack *s, uint32_t a, uint32_t b)
{
    const struct profile_frame *x = &v->p->frames[s->frames[a]], *y = &v->p->frames[s->frames[b]];

    if (x->function == 0 && x->file == 0)
        return s->locations[a] == s->locations[b];
    return x->function == y->function && x->file == y->file && x->line == y->line &&
           x->module == y->module && x->inlined == y->inlined;
}

/* How often the PERIOD frames from FIRST on come again right after. */
static uint32_t
repetitions(const struct text_view *v, const struct stack *s, uint32_t first, uint32_t period,
            uint32_t depth)
{
    uint32_t n = 0;

    while (first + period + n < depth && same_frame(v, s, first + n, first + period + n))
        n++;
    return n / period;
}

/* Fill LINES, of which there are LIMIT, with the frames of S; recursion that comes at least twice
 * more is one line. Returns how many; *RET_NEXT is the first frame left out. */
static uint32_t
layout_stack(const struct text_view *v, const struct stack *s, uint32_t depth,
             struct stack_line *lines, uint32_t limit, uint32_t *ret_next)
{
    uint32_t n = 0, i = 0;

    while (i < depth && n < limit) {
        uint32_t period = 1, times = 0;

        for (uint32_t k = 1; k <= PERIOD_MAX && times < 2; k++) {
            times = repetitions(v, s, i, k, depth);
            period = k;
        }
        if (times < 2 || n + period + 1 > limit) {
            lines[n++] = (struct stack_line){.frame = i++};
            continue;
        }
        for (uint32_t k = 0; k < period; k++)
            lines[n++] = (struct stack_line){.frame = i + k};
        lines[n++] = (struct stack_line){.period = period, .times = times};
        i += period * (times + 1);
    }
    *ret_next = i;
    return n;
}

/* The first DEPTH_LIMIT lines of S; NUMBER is where the others were shown before, or 0. */
void
text_stack(struct text_view *v, const struct stack *s, size_t depth_limit, size_t number)
{
    uint32_t depth = stack_useful_depth(v->p, s), next, n;
    // One frame takes no more room than the line that says there is one more.
    uint32_t limit = depth_limit + 1 < depth ? (uint32_t)depth_limit : depth;
    struct stack_line *lines = arena_array(v->arena, limit, sizeof *lines);
    struct frame_text *texts = arena_array(v->arena, limit, sizeof *texts);
    size_t width, count = 0;

    if (s->flags & NODE_OTHER)
        put_note(v, "other: stacks that no longer fitted into the recorder's call tree");
    n = layout_stack(v, s, depth, lines, limit, &next);
    for (uint32_t i = 0; i < n; i++)
        if (lines[i].period == 0)
            texts[count++] = describe_frame(v, s, lines[i].frame);
    width = fit_functions(v, texts, count);
    count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (lines[i].period == 0)
            put_frame(v, &texts[count++], width, i == 0);
        else
            put_note(v, arena_printf(v->arena, "\xe2\x80\xa6 the %s above, %" PRIu32 " times more",
                                     style_plural(v->arena, lines[i].period, "frame"),
                                     lines[i].times));
    }
    if (next < depth && number)
        put_note(v, arena_printf(v->arena, "\xe2\x80\xa6 %s, see #%zu above",
                                 style_plural(v->arena, depth - next, "more frame"), number));
    else if (next < depth)
        put_note(v, arena_printf(v->arena, "\xe2\x80\xa6 %s",
                                 style_plural(v->arena, depth - next, "more frame")));
    else if (s->flags & NODE_TRUNCATED)
        put_note(v, v->p->frames_kept ? "\xe2\x80\xa6 whose callers were not asked for"
                                      : "\xe2\x80\xa6 and deeper than the recorder follows");
    if (s->flags & NODE_GUESSED)
        put_note(v, "a frame was found without unwind information: its callers are a guess");
}

/* What stands behind the value in the headline of a site. */
static const char *
site_details(struct text_view *v, const struct counters *c, enum metric metric)
{
    struct arena *a = v->arena;

    switch (metric) {
    case METRIC_INUSE:
        return style_plural(a, counters_live_blocks(c), "block");
    case METRIC_PEAK:
        return style_plural(a, c->peak_blocks, "block");
    case METRIC_ALLOC:
        return style_plural(a, c->allocations, "call");
    case METRIC_COUNT:
        return style_bytes(a, c->allocated_bytes);
    case METRIC_TEMPORARY:
        return arena_printf(
            a, "%s of its %s, %s on average", style_percent(a, c->temporary, c->allocations),
            style_plural(a, c->allocations, "call"),
            style_bytes(a, c->allocations ? c->allocated_bytes / c->allocations : 0));
    }
    return "";
}

const char *
text_metric(struct text_view *v, const struct counters *c, enum metric metric)
{
    int64_t value = metric_value(c, metric);

    return metric_is_bytes(metric) ? style_bytes(v->arena, value) : style_count(v->arena, value);
}

/* The number under which S has been shown, or 0; a new one is remembered. */
static size_t
number_stack(struct text_view *v, const struct stack *s, bool *ret_new)
{
    *ret_new = false;
    for (size_t i = 0; i < v->seen_count; i++)
        if (v->seen[i] == s)
            return i + 1;
    arena_grow(v->arena, &v->seen, &v->seen_capacity, v->seen_count, sizeof *v->seen);
    v->seen[v->seen_count++] = s;
    *ret_new = true;
    return v->seen_count;
}

static void
put_tags(struct text_view *v, const struct stack *s)
{
    const struct profile_label_set *labels =
        s->labels == STACK_LABELS_SEVERAL ? NULL : &v->p->label_sets[s->labels];
    const char *text = tags_text(&v->p->heaps[s->heap], labels, v->arena);

    if (*text != '\0')
        put_note(v, text);
}

static void
put_site(struct text_view *v, const struct stack *s, enum metric metric)
{
    bool is_new;
    size_t number = number_stack(v, s, &is_new);
    const char *label = arena_printf(v->arena, "#%zu", number);
    const char *value = text_metric(v, &s->counters, metric);
    int64_t total = metric_value(&v->stacks->total, metric);
    size_t used = 17 + (style_width(value) > 12 ? style_width(value) : 12);

    strbuf_char(v->out, '\n');
    style_ink(&v->style, v->out, INK_DIM);
    style_left(v->out, label, 4);
    style_ink(&v->style, v->out, INK_PLAIN);
    style_ink(&v->style, v->out, INK_NUMBER);
    style_right(v->out, value, 12);
    style_ink(&v->style, v->out, INK_PLAIN);
    style_right(
        v->out,
        // Of a growth that others have made up for there is no part to tell.
        total <= 0 ? "" : style_percent(v->arena, metric_value(&s->counters, metric), total), 10);
    strbuf_str(v->out, "   ");
    style_text(
        &v->style, v->out, INK_DIM,
        style_cut_end(v->arena,
                      arena_printf(v->arena, "%s%s", site_details(v, &s->counters, metric),
                                   sampling_error(v->arena, &s->counters, &s->errors, metric)),
                      style_room(&v->style, used)));
    strbuf_char(v->out, '\n');
    put_tags(v, s);
    text_stack(v, s, is_new ? v->depth : 1, is_new ? 0 : number);
}

/* A line for the sites whose live bytes became less; returns what they grew by together. */
static int64_t
put_shrunk(struct text_view *v)
{
    int64_t sum = 0, count = 0;

    for (size_t i = 0; i < v->stacks->count; i++) {
        int64_t growth = counters_live_bytes(&v->stacks->v[i].counters);

        sum = counters_sum(sum, growth < 0 ? growth : 0);
        count += growth < 0;
    }
    if (count == 0)
        return 0;
    strbuf_char(v->out, '\n');
    text_line(v, INK_DIM,
              arena_printf(v->arena, "    %12s  in %s that shrank", style_bytes(v->arena, sum),
                           style_plural(v->arena, count, "site")));
    return sum;
}

/* The first sites by METRIC: at most LIMIT, of at least PERCENT_MIN of the total, and at least one.
 * Nothing at all, not even the title, when there is none. */
static void
put_section(struct text_view *v, enum metric metric, size_t limit, double percent_min)
{
    const struct stack **top = group_sorted_stacks(v->stacks, metric, v->arena);
    size_t count = group_positive(v->stacks, top, metric), shown;
    const char *title = metric == METRIC_INUSE ? live_word(v) : metric_titles[metric];
    int64_t total = metric_value(&v->stacks->total, metric), rest = total;

    if (count == 0)
        return;
    text_title(v, title,
               arena_printf(v->arena, "%s, %s", text_metric(v, &v->stacks->total, metric),
                            style_plural(v->arena, (int64_t)count, "site")));
    for (shown = 0; shown < count && shown < limit; shown++) {
        int64_t value = metric_value(&top[shown]->counters, metric);

        if (shown > 0 && (double)value * 100 < (double)total * percent_min)
            break;
        put_site(v, top[shown], metric);
        rest = counters_difference(rest, value);
    }
    if (v->p->extent == EXTENT_BETWEEN && metric == METRIC_INUSE)
        rest = counters_difference(rest, put_shrunk(v));
    if (shown == count)
        return;
    strbuf_char(v->out, '\n');
    text_line(v, INK_DIM,
              arena_printf(v->arena, "    %12s  in %s",
                           metric_is_bytes(metric) ? style_bytes(v->arena, rest)
                                                   : style_count(v->arena, rest),
                           style_plural(v->arena, (int64_t)(count - shown), "more site")));
}

void
text_sites(struct text_view *v, enum metric metric)
{
    if (metric_value(&v->stacks->total, metric) <= 0)
        text_line(v, INK_DIM, arena_printf(v->arena, "%s: nothing.", metric_titles[metric]));
    put_section(v, metric, v->limit ? v->limit : TEXT_LIMIT, 0);
}

const char *
text_size(struct arena *a, uint64_t bytes)
{
    if (bytes >= MIB && bytes % MIB == 0)
        return arena_printf(a, "%" PRIu64 " MiB", bytes / MIB);
    if (bytes >= KIB && bytes % KIB == 0)
        return arena_printf(a, "%" PRIu64 " KiB", bytes / KIB);
    return arena_printf(a, "%" PRIu64 " B", bytes);
}

static const char *
range_text(struct arena *a, const struct size_range *r)
{
    if (r->size_max == UINT64_MAX)
        return arena_printf(a, "%s and more", text_size(a, r->size_min));
    if (r->size_max & 1)
        return arena_printf(a, "below %s", text_size(a, r->size_max + 1));
    return arena_printf(a, "up to %s", text_size(a, r->size_max));
}

static const char *
bar(struct arena *a, int64_t part, int64_t whole)
{
    size_t n = whole > 0 && part > 0 ? (size_t)(16.0 * (double)part / (double)whole + 0.5) : 0;
    char *out = arena_alloc(a, n * 3 + 1);

    for (size_t i = 0; i < n; i++)
        // NOLINTNEXTLINE(bugprone-not-null-terminated-result): the arena gives zeros.
        memcpy(out + 3 * i, "\xe2\x96\x87", 3);
    return out;
}

static void
put_sizes(struct text_view *v)
{
    static const struct column columns[] = {
        {COLUMN_TEXT, NULL, "    size", false, NULL},
        {COLUMN_COUNT, NULL, "calls", false, NULL},
        {COLUMN_BYTES, NULL, "allocated", false, NULL},
        {COLUMN_COUNT, NULL, "live blocks", false, NULL},
        {COLUMN_BYTES, NULL, "live", false, NULL},
        {COLUMN_TEXT, NULL, "share of calls", true, NULL},
    };
    struct size_range ranges[SIZE_RANGE_COUNT];
    size_t n = group_size_ranges(v->p, ranges);
    int64_t calls = group_all_sizes(v->p).allocations;
    struct table t;

    if (n == 0)
        return;
    text_title(v, "Sizes", "");
    strbuf_char(v->out, '\n');
    table_begin(&t, v->arena, columns, countof(columns));
    for (size_t i = 0; i < n; i++) {
        const struct counters *c = &ranges[i].counters;

        table_string(&t, arena_printf(v->arena, "    %s", range_text(v->arena, &ranges[i])));
        table_number(&t, c->allocations);
        table_number(&t, c->allocated_bytes);
        table_number(&t, counters_live_blocks(c));
        table_number(&t, counters_live_bytes(c));
        table_string(&t, bar(v->arena, c->allocations, calls));
    }
    table_text(&t, &v->style, SIZE_MAX, v->out);
    text_not_in_bins(v);
}

void
text_suppressions(struct text_view *v, const struct leaks *leaks,
                  const struct suppressions *suppressions)
{
    struct arena *a = v->arena;

    if (leaks->suppressed_blocks == 0)
        return;
    text_title(v, "Suppressed",
               arena_printf(a, "%s in %s", style_bytes(a, leaks->suppressed_bytes),
                            style_plural(a, leaks->suppressed_blocks, "block")));
    strbuf_char(v->out, '\n');
    for (size_t i = 0; i < suppressions->count; i++) {
        const struct suppression *s = &suppressions->v[i];

        if (s->counters.allocations == 0)
            continue;
        text_line(v, INK_DIM,
                  arena_printf(a, "    %12s %8s   %s  (%s)",
                               style_bytes(a, counters_live_bytes(&s->counters)),
                               style_count(a, counters_live_blocks(&s->counters)), s->pattern,
                               s->origin));
    }
}

void
text_leaks_head(struct text_view *v, const struct leaks *leaks, size_t count, const char *noun)
{
    const struct counters *total = &leaks->stacks.total;
    struct arena *a = v->arena;

    text_line(v, INK_BOLD,
              arena_printf(a, "%s: %s in %s, %s%s", live_word(v),
                           style_bytes(a, counters_live_bytes(total)),
                           style_plural(a, counters_live_blocks(total), "block"),
                           style_plural(a, (int64_t)count, noun),
                           sampling_error(a, total, &leaks->stacks.errors, METRIC_INUSE)));
    text_line(v, INK_DIM, "Whether anything still points to these blocks has not been checked.");
}

void
text_leaks(struct text_view *v, const struct leaks *leaks, const struct suppressions *suppressions)
{
    size_t limit = v->limit ? v->limit : TEXT_LIMIT,
           shown = leaks->count < limit ? leaks->count : limit;
    struct arena *a = v->arena;

    text_leaks_head(v, leaks, leaks->count, "site");
    for (size_t i = 0; i < shown; i++)
        put_site(v, leaks->v[i], METRIC_INUSE);
    if (shown < leaks->count) {
        strbuf_char(v->out, '\n');
        text_line(v, INK_DIM,
                  arena_printf(a, "\xe2\x80\xa6 %s; --limit shows more",
                               style_plural(a, (int64_t)(leaks->count - shown), "more site")));
    }
    text_suppressions(v, leaks, suppressions);
}
