/* heaptrack.c: write a list of events for heaptrack_print and heaptrack_gui, which sum them.
 *
 *     v 10000 1              written by version 1.0.0, in version 1 of the format
 *     X prog --test          the command; a sentence about estimates may follow
 *     s main                 string 1
 *     s /usr/bin/prog        string 2
 *     s a.c                  string 3
 *     i 1189 2 1 3 14        frame 1: at 0x1189 in string 2, function 1, file 3, line 20
 *     t 1 0                  trace 1: frame 1, without a caller
 *     s make
 *     i 1138 2 4 3 3
 *     t 2 1                  trace 2: frame 2, called from trace 1
 *     a 0 2                  kind 0: blocks of 0 bytes from trace 2; the marker, see below
 *     + 0
 *     a 40 2                 kind 1: 64 bytes from there
 *     + 1                    allocated
 *     - 1                    and freed at once: a "temporary" allocation
 *     + 1
 *     - 0                    the marker, so that the next line does not count as temporary
 *     - 1
 *     c 7d0                  2,000 ms after the start
 *
 * All numbers are in hex; the first letter of a line is its kind. Strings, frames and traces count
 * from 1, kinds from 0, each in the order of their lines. A kind's line must immediately precede
 * its first block. Every heaptrack since 1.0 reads version 1. Inlined calls are frames.
 *
 * event_plan.c synthesises the blocks. Readers show exact values per stack: calls, bytes at the
 * peak, bytes never freed, and temporary allocations, except those that were live at a snapshot.
 * Block sizes are averages of their site. The time series has bytes in use at the profile's
 * snapshots and the amounts allocated between them, at the later one.
 *
 * A free counts as temporary if the line above it allocated a block of that kind, so a longer-lived
 * block needs a line in between. A block of another kind can be in between only if there is one and
 * both fit below the peak. An empty block always fits: one block of no bytes is allocated first,
 * and freed as often as needed. The reader counts kinds, not blocks. The empty block is one of the
 * program's calls (event_plan.h), so that calls add up. It is kind 0: after a free of kind 0 the
 * reader remembers that kind, so the second of two such frees in a row always counts as temporary.
 *
 * The file grows with the number of calls, and is written as a stream. Beyond EVENTS_MAX, the calls
 * are divided by the smallest sufficient number, which the title states: one written call then
 * represents several. Bytes at the peak and at the end stay exact. Negative values count as 0. */
#include "interchange/interchange.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "export/exporter.h"
#include "interchange/event_plan.h"
#include "interchange/line_text.h"

enum { EVENTS_MAX = 10000000, NS_PER_MS = 1000000 };

#define NO_KIND UINT64_MAX

/* Part of a unit's churn written so far. */
struct progress {
    int64_t blocks, written, temporary;
};

struct writer {
    const struct profile *p;
    const struct stacks *stacks;
    const struct tag_roots *roots;
    struct arena *arena;
    struct strbuf *out;
    struct plan plan;
    struct progress *progress; // By unit.
    int64_t divisor;           // Number of calls that a written call represents.
    struct strtab strings;
    uint32_t string_count;  // Strings written so far.
    uint32_t *frame_ips;    // By frame, or by location without a function; 0 = not yet written.
    uint32_t *location_ips;
    uint32_t ip_count;
    struct map name_ips; // Frames outside the program, by string.
    struct map traces;   // Caller's trace << 32 | frame to trace.
    uint32_t *stack_traces; // By stack; 0 = not yet written.
    struct map sizes, kinds; // Size to a number; trace << 32 | number to kind plus 1.
    uint64_t latest;         // Kind of the line before, if that line allocated; else NO_KIND.
    uint64_t latest_ms;
    int64_t to_peak; // Allocations left until the peak; 0 = not in this step.
};

static void
heaptrack_write_line(struct writer *w, char what, uint64_t number)
{
    static const char digits[] = "0123456789abcdef";
    char line[20], *s = line + sizeof line;

    *--s = '\n';
    do
        *--s = digits[number & 15];
    while ((number >>= 4) != 0);
    *--s = ' ';
    *--s = what;
    strbuf_add(w->out, s, (size_t)(line + sizeof line - s));
}

static uint32_t
string_id(struct writer *w, const char *s)
{
    uint32_t id = strtab_id(&w->strings, s);

    if (id > w->string_count) {
        w->string_count = id;
        strbuf_str(w->out, "s ");
        line_text(w->out, s);
        strbuf_char(w->out, '\n');
    }
    return id;
}

static uint32_t
write_ip(struct writer *w, uint64_t address, const char *module, const char *function)
{
    uint32_t module_id = string_id(w, module), function_id = string_id(w, function);

    strbuf_fmt(w->out, "i %" PRIx64 " %" PRIx32 " %" PRIx32, address, module_id, function_id);
    return ++w->ip_count;
}

static uint32_t
ip_of_frame(struct writer *w, uint32_t frame, uint32_t location)
{
    const struct profile_frame *f = &w->p->frames[frame];
    uint32_t *known = f->function != 0 ? &w->frame_ips[frame] : &w->location_ips[location];
    uint32_t file;

    if (*known != 0)
        return *known;
    file = string_id(w, profile_string(w->p, f->file));
    *known = write_ip(w, location_pc(&w->p->locations[location]), profile_code_of(w->p, f),
                      frame_name(w->p, frame, location, w->arena));
    if (file != 0)
        strbuf_fmt(w->out, " %" PRIx32 " %" PRIx32, file, f->line);
    else
        strbuf_str(w->out, " 0 0");
    strbuf_char(w->out, '\n');
    return *known;
}

static uint32_t
ip_of_name(struct writer *w, const char *name)
{
    bool new;
    uint64_t *known = map_put(&w->name_ips, string_id(w, name), &new);

    if (new) {
        *known = write_ip(w, 0, "", name);
        strbuf_str(w->out, " 0 0\n");
    }
    return (uint32_t)*known;
}

static uint32_t
trace_below(struct writer *w, uint32_t caller, uint32_t ip)
{
    bool new;
    uint64_t *trace = map_put(&w->traces, (uint64_t)caller << 32 | ip, &new);

    if (new) {
        *trace = w->traces.count;
        strbuf_fmt(w->out, "t %" PRIx32 " %" PRIx32 "\n", ip, caller);
    }
    return (uint32_t)*trace;
}

static uint32_t
trace_of_stack(struct writer *w, uint32_t stack)
{
    const struct stack *s = &w->stacks->v[stack];
    const char *tag = tags_root(w->p, w->roots, s->heap, s->labels, w->arena);
    const char *root = stack_root(w->p, s);
    uint32_t trace = 0;

    if (w->stack_traces[stack] != 0)
        return w->stack_traces[stack];
    if (tag != NULL)
        trace = trace_below(w, trace, ip_of_name(w, tag));
    if (root != NULL)
        trace = trace_below(w, trace, ip_of_name(w, root));
    for (uint32_t i = s->depth; i-- > 0;)
        trace = trace_below(w, trace, ip_of_frame(w, s->frames[i], s->locations[i]));
    strbuf_pause(w->out);
    return w->stack_traces[stack] = trace;
}

/* Return the number of the pair of SIZE and the stack of UNIT. The format writes each such pair
 * once, as an `a` line. If the pair is new, write its line; the caller must then write an
 * allocation of this pair as the next line. */
static uint64_t
heaptrack_kind_of(struct writer *w, uint32_t unit, int64_t size)
{
    uint32_t trace = trace_of_stack(w, w->plan.units[unit].stack);
    bool new;
    uint64_t *number = map_put(&w->sizes, (uint64_t)size, &new), *kind;

    if (new)
        *number = w->sizes.count;
    kind = map_put(&w->kinds, (uint64_t)trace << 32 | *number, &new);
    if (new) {
        *kind = w->kinds.count;
        strbuf_fmt(w->out, "a %" PRIx64 " %" PRIx32 "\n", (uint64_t)size, trace);
    }
    return *kind - 1;
}

static void
write_allocation(struct writer *w, uint64_t kind)
{
    heaptrack_write_line(w, '+', kind);
    w->latest = kind;
}

static void
write_free(struct writer *w, uint64_t kind, bool temporary)
{
    if (!temporary && w->latest == kind && w->plan.marker != PLAN_NONE)
        heaptrack_write_line(w, '-', 0);
    heaptrack_write_line(w, '-', kind);
    w->latest = NO_KIND;
}

static void
write_time(struct writer *w, uint64_t elapsed_ns)
{
    uint64_t ms = elapsed_ns / NS_PER_MS;

    // The last event may be a little older than the last snapshot.
    if (ms > w->latest_ms)
        w->latest_ms = ms;
    heaptrack_write_line(w, 'c', w->latest_ms);
}

static int64_t
blocks_of(const struct writer *w, const struct plan_piece *piece)
{
    return piece->blocks / w->divisor > 1 ? piece->blocks / w->divisor : 1;
}

/* Write the allocations of PIECE's blocks if BEGINS, else their frees. */
static void
write_piece(struct writer *w, const struct plan_piece *piece, bool begins)
{
    int64_t blocks = blocks_of(w, piece);
    int64_t size = piece->bytes / blocks, larger = piece->bytes % blocks;

    for (int64_t done = 0; done < blocks;) {
        bool first = done < larger;
        uint64_t kind = heaptrack_kind_of(w, piece->unit, size + first);

        for (int64_t end = first ? larger : blocks; done < end; done++) {
            // The reader assigns the time of the latest time line to the peak.
            if (begins && w->to_peak > 0 && --w->to_peak == 0)
                write_time(w, w->plan.steps[w->plan.peak_step].elapsed_ns);
            if (begins)
                write_allocation(w, kind);
            else
                write_free(w, kind, piece->dies_at_once);
            strbuf_pause(w->out);
        }
    }
}

/* Write N blocks of SIZE that come and go. */
static void
write_passing(struct writer *w, uint32_t unit, int64_t size, int64_t n, bool temporary)
{
    uint64_t kind = n > 0 ? heaptrack_kind_of(w, unit, size) : 0;

    for (int64_t i = 0; i < n; i++) {
        write_allocation(w, kind);
        write_free(w, kind, temporary);
        strbuf_pause(w->out);
    }
}

/* Return the share PART / WHOLE of NUMBER. All must be nonnegative. */
static int64_t
heaptrack_share(int64_t number, int64_t part, int64_t whole)
{
    return whole == 0 ? 0 : (int64_t)((unsigned __int128)number * (uint64_t)part / (uint64_t)whole);
}

static void
write_churn(struct writer *w, const struct plan_churn *churn, int64_t room)
{
    const struct plan_unit *u = &w->plan.units[churn->unit];
    struct progress *progress = &w->progress[churn->unit];
    // Totals of the unit, and its block size; `larger` blocks have one byte more.
    int64_t all = u->churn_blocks / w->divisor + (u->churn_blocks % w->divisor != 0);
    int64_t temporary = heaptrack_share(all, u->die_at_once, u->churn_blocks);
    int64_t bytes = heaptrack_share(u->churn_bytes, all, u->churn_blocks);
    int64_t size = all > 0 ? bytes / all : 0, larger = all > 0 ? bytes % all : 0;
    int64_t from = progress->written, to, passing, dying, of_larger;

    progress->blocks += churn->blocks;
    to = heaptrack_share(all, progress->blocks, u->churn_blocks);
    progress->written = to;
    dying = heaptrack_share(temporary, to, all) - progress->temporary;
    progress->temporary += dying;
    passing = to - from - dying;
    of_larger = larger > from ? larger - from : 0;
    if (of_larger > to - from)
        of_larger = to - from;
    larger = dying < of_larger ? dying : of_larger;
    // Blocks of churn that fit into no step shrink, so that the peak is preserved.
    size = size < room ? size : room;
    write_passing(w, churn->unit, size + (size < room), larger, true);
    write_passing(w, churn->unit, size, dying - larger, true);
    of_larger -= larger;
    write_passing(w, churn->unit, size + (size < room), of_larger, false);
    write_passing(w, churn->unit, size, passing - of_larger, false);
}

/* Write step NUMBER. Blocks that die at once are allocated last and freed first, one after
 * another. */
static void
write_step(struct writer *w, uint32_t number)
{
    const struct plan *plan = &w->plan;
    const struct plan_step *step = &plan->steps[number];

    for (size_t i = step->ends_end; i-- > step->ends;)
        if (plan->pieces[plan->ending[i]].dies_at_once)
            write_piece(w, &plan->pieces[plan->ending[i]], false);
    for (size_t i = step->ends; i < step->ends_end; i++)
        if (!plan->pieces[plan->ending[i]].dies_at_once)
            write_piece(w, &plan->pieces[plan->ending[i]], false);
    for (size_t i = step->churns; i < step->churns_end; i++)
        write_churn(w, &plan->churns[i], step->room);
    for (size_t i = step->starts; number == plan->peak_step && i < step->starts_end; i++)
        w->to_peak += blocks_of(w, &plan->pieces[plan->starting[i]]);
    for (size_t i = step->starts; i < step->starts_end; i++)
        if (!plan->pieces[plan->starting[i]].dies_at_once)
            write_piece(w, &plan->pieces[plan->starting[i]], true);
    for (size_t i = step->starts; i < step->starts_end; i++)
        if (plan->pieces[plan->starting[i]].dies_at_once)
            write_piece(w, &plan->pieces[plan->starting[i]], true);
    write_time(w, step->elapsed_ns);
}

static void
heaptrack_write_head(struct writer *w)
{
    const char *estimate = export_estimate(w->p, w->stacks, w->arena);

    strbuf_str(w->out, "v 10000 1\n# ");
    line_creator(w->out, w->p);
    strbuf_str(w->out, "; '- 0' keeps what is freed next from counting as temporary\nX ");
    line_title(w->out, w->p, w->arena);
    if (w->divisor > 1)
        strbuf_fmt(w->out, " (1 call here stands for %" PRId64 ")", w->divisor);
    if (*estimate != '\0')
        strbuf_fmt(w->out, " (%s)", estimate);
    strbuf_char(w->out, '\n');
}

/* Return the number of calls that each written call must represent, so that the file has at most
 * MAX calls. */
static int64_t
divisor_for(const struct plan *plan, int64_t max)
{
    double sum = 0;

    for (size_t i = 0; i < plan->unit_count; i++)
        sum += (double)plan->units[i].allocations;
    sum = sum / (double)max;
    return sum <= 1 ? 1 : sum < (double)INT64_MAX / 2 ? (int64_t)sum + 1 : INT64_MAX / 2;
}

static void
heaptrack_write_all(struct writer *w)
{
    heaptrack_write_head(w);
    if (w->plan.marker != PLAN_NONE)
        write_allocation(w, heaptrack_kind_of(w, w->plan.marker, 0));
    for (uint32_t i = 0; i < w->plan.step_count; i++)
        write_step(w, i);
}

int
export_heaptrack(const struct profile *p, const struct stacks *stacks,
                 const struct export_options *options, struct strbuf *out, struct err *err)
{
    struct arena arena = {0};
    struct compressed compressed;
    struct writer w = {.p = p, .stacks = stacks, .roots = &options->roots, .arena = &arena,
                       .latest = NO_KIND};
    int rc;

    event_plan(p, stacks, &arena, &w.plan);
    w.divisor = divisor_for(&w.plan, options->calls_max > 0 ? options->calls_max : EVENTS_MAX);
    w.progress = arena_array(&arena, w.plan.unit_count, sizeof *w.progress);
    w.frame_ips = arena_array(&arena, p->frame_count, sizeof *w.frame_ips);
    w.location_ips = arena_array(&arena, p->location_count, sizeof *w.location_ips);
    w.stack_traces = arena_array(&arena, stacks->count, sizeof *w.stack_traces);
    w.out = compressed_begin(&compressed, options->compression, out);
    heaptrack_write_all(&w);
    rc = compressed_end(&compressed, err);
    strtab_release(&w.strings);
    map_release(&w.name_ips);
    map_release(&w.traces);
    map_release(&w.sizes);
    map_release(&w.kinds);
    arena_release(&arena);
    return rc;
}
