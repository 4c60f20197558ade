/* callgrind.c: write the call graph in callgrind's format, which kcachegrind, qcachegrind and
 * callgrind_annotate read.
 *
 *     # callgrind format
 *     version: 1
 *     creator: heaptap 0.9
 *     pid: 4711
 *     cmd: prog --test
 *     desc: Estimates from ...             only of sampled profiles
 *     positions: line
 *     events: InuseBytes InuseObjs ...     the requested metric first
 *     summary: 250 7
 *
 *     ob=(1) /usr/bin/prog                 a name once, afterwards its number alone: ob=(1)
 *     fl=(1) src/a.c
 *     fn=(2) main
 *     21 0 0 16 2                          self: line, then a cost per event; zeros at the end are
 *     cfi=(2) src/b.c                      left out. For the callee, differences from the caller:
 *     cfn=(3) work                         cob=, cfi=, always cfn=
 *     calls=8 0                            number of allocations through this call; line of the
 *     20 250 7                             callee (0 = unknown). Then the call's line and costs
 *
 *     totals: 250 7
 *
 * The format has a graph but no stacks, and no inclusive values. Readers derive inclusive values
 * from calls: callgrind_annotate from the calls into a function, kcachegrind from the calls out of
 * it. So stacks are split such that each adds to a function once:
 *
 *     a stack       main > f > g > f > h   with 10 bytes
 *     becomes       main>f 10,  f>g 10,  g>f 0,  f>h 10,  h itself 10
 *
 * A call into a function that is already on the stack keeps its count but has no cost, and a
 * repeated call of a stack is counted once. callgrind_annotate --inclusive=yes is then exact, even
 * with recursion. kcachegrind detects the cycle and shows it as one. callgrind_annotate takes
 * incoming calls for inclusive. So a function that is outermost on some stacks and called on others
 * would lose its costs on the former stacks. To prevent this, all stacks share a caller, "[all
 * stacks]".
 *
 * A function is a name in a file in an object, the key by which readers distinguish functions.
 * Inlined frames are ordinary functions.
 *
 * Costs are unsigned for some readers. Negative values (memory that shrank between two moments, or
 * a row in flight) count as 0, which a desc: line states. The format has no heaps or labels; they
 * can be a function above the stacks (options.roots). Long names of events ("event:" lines) are
 * left out, because callgrind_annotate 3.19 complains about them. */
#include "interchange/interchange.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "export/exporter.h"
#include "interchange/line_text.h"

enum event {
    INUSE_BYTES,
    INUSE_OBJS,
    ALLOC_BYTES,
    ALLOC_OBJS,
    PEAK_BYTES,
    PEAK_OBJS,
    TEMPORARY_OBJS,
    SHORT_LIVED_OBJS,
    EVENTS,
};

static const char *const event_names[EVENTS] = {
    [INUSE_BYTES] = "InuseBytes",         [INUSE_OBJS] = "InuseObjs",
    [ALLOC_BYTES] = "AllocBytes",         [ALLOC_OBJS] = "AllocObjs",
    [PEAK_BYTES] = "PeakBytes",           [PEAK_OBJS] = "PeakObjs",
    [TEMPORARY_OBJS] = "TemporaryObjs",   [SHORT_LIVED_OBJS] = "ShortLivedObjs",
};

// Numbers of events: in a profile cut to its peak, and in one cut to a moment or a period.
enum { EVENTS_OF_PEAK = 2, EVENTS_OF_POINTS = 4 };

static const enum event event_of_metric[] = {
    [METRIC_INUSE] = INUSE_BYTES, [METRIC_PEAK] = PEAK_BYTES,
    [METRIC_ALLOC] = ALLOC_BYTES, [METRIC_TEMPORARY] = SHORT_LIVED_OBJS,
    [METRIC_COUNT] = ALLOC_OBJS,
};

struct function {
    uint32_t name, file; // Ids in names and files.
    uint32_t object;     // Module id.
    // Number of the last stack that contained the function; stacks count from 1.
    size_t stack;
};

/* A line of costs. */
struct row {
    uint32_t function, callee; // Ids; callee 0 = self costs.
    uint32_t line;
    size_t stack; // Number of the last stack whose calls were counted; stacks count from 1.
    int64_t calls;
    int64_t costs[EVENTS];
};

struct graph {
    const struct profile *p;
    const struct tag_roots *roots;
    struct arena *arena;
    struct strtab names, files;
    struct strbuf scratch; // Name being built.
    uint32_t *known;       // By frame: id of its function; 0 = not yet known.
    struct map name_files, function_ids, pairs, row_ids;
    struct function *functions; // Index 0 is unused.
    size_t function_count, function_capacity;
    struct row *rows;
    size_t row_count, row_capacity;
    enum event order[EVENTS]; // Known events, in the order of writing.
    size_t event_count;
    int64_t totals[EVENTS];
    bool negative; // Some value was negative and counted as 0.
    bool *named_names, *named_files, *named_objects; // Names written so far.
};

static void
order_events(struct graph *g, enum metric metric)
{
    const struct profile *p = g->p;
    size_t known = p->extent == EXTENT_PEAK      ? EVENTS_OF_PEAK
                   : p->extent != EXTENT_WHOLE   ? EVENTS_OF_POINTS
                   : p->totals.lifetimes_unknown     ? SHORT_LIVED_OBJS
                                                     : EVENTS;
    enum event first = event_of_metric[metric];

    if (first == SHORT_LIVED_OBJS && known == SHORT_LIVED_OBJS)
        first = TEMPORARY_OBJS;
    g->order[g->event_count++] = first;
    for (size_t i = 0; i < known; i++)
        if (i != first)
            g->order[g->event_count++] = (enum event)i;
}

/* Return the number of KEY in M, from 1 in order of appearance. */
static uint32_t
callgrind_dense_id(struct map *m, uint64_t key, bool *ret_new)
{
    uint64_t *id = map_put(m, key, ret_new);

    if (*ret_new)
        *id = m->count;
    return (uint32_t)*id;
}

static uint32_t
callgrind_text_id(struct graph *g, struct strtab *t, const char *s)
{
    strbuf_clear(&g->scratch);
    line_text(&g->scratch, s);
    return strtab_id(t, g->scratch.length > 0 ? strbuf_text(&g->scratch) : "???");
}

static uint32_t
callgrind_function_id(struct graph *g, const char *name, const char *file, uint32_t object)
{
    uint32_t name_id = callgrind_text_id(g, &g->names, name),
             file_id = callgrind_text_id(g, &g->files, file);
    bool is_new;
    uint64_t pair = callgrind_dense_id(&g->name_files, (uint64_t)name_id << 32 | file_id, &is_new);
    uint32_t id = callgrind_dense_id(&g->function_ids, pair << 32 | object, &is_new);

    if (is_new) {
        arena_grow(g->arena, &g->functions, &g->function_capacity, id, sizeof *g->functions);
        g->functions[id] = (struct function){name_id, file_id, object, 0};
        g->function_count = (size_t)id + 1;
    }
    return id;
}

static uint32_t
function_of_frame(struct graph *g, uint32_t frame, uint32_t location)
{
    const struct profile_frame *f = &g->p->frames[frame];
    uint32_t id = g->known[frame];

    if (id != 0)
        return id;
    id = callgrind_function_id(g, frame_name(g->p, frame, location, g->arena),
                               profile_string(g->p, f->file), f->module);
    // Without a function, the location determines the name.
    if (f->function != 0)
        g->known[frame] = id;
    return id;
}

/* Return the row for calls of CALLEE by FUNCTION at LINE, or for self costs if CALLEE is 0. Valid
 * until the next call. */
static struct row *
callgrind_find_row(struct graph *g, uint32_t function, uint32_t callee, uint32_t line)
{
    bool is_new;
    uint64_t pair = callgrind_dense_id(&g->pairs, (uint64_t)function << 32 | callee, &is_new);
    uint32_t id = callgrind_dense_id(&g->row_ids, pair << 32 | line, &is_new);

    if (is_new) {
        arena_grow(g->arena, &g->rows, &g->row_capacity, g->row_count, sizeof *g->rows);
        g->rows[g->row_count++] = (struct row){function, callee, line, 0, 0, {0}};
    }
    return &g->rows[id - 1];
}

static void
add_costs(int64_t sum[EVENTS], const int64_t costs[EVENTS])
{
    for (size_t i = 0; i < EVENTS; i++)
        sum[i] = counters_sum(sum[i], costs[i]);
}

/* Store the costs of C by event in RET, negative ones as 0. Return false if all are 0. */
static bool
costs_of(struct graph *g, const struct counters *c, int64_t ret[EVENTS])
{
    const int64_t values[EVENTS] = {
        [INUSE_BYTES] = counters_live_bytes(c), [INUSE_OBJS] = counters_live_blocks(c),
        [ALLOC_BYTES] = c->allocated_bytes,     [ALLOC_OBJS] = c->allocations,
        [PEAK_BYTES] = c->peak_bytes,           [PEAK_OBJS] = c->peak_blocks,
        [TEMPORARY_OBJS] = c->temporary,        [SHORT_LIVED_OBJS] = counters_within_16(c),
    };
    bool any = false;

    memset(ret, 0, EVENTS * sizeof *ret);
    for (size_t i = 0; i < g->event_count; i++) {
        enum event e = g->order[i];

        g->negative |= values[e] < 0;
        ret[e] = values[e] > 0 ? values[e] : 0;
        any |= ret[e] != 0;
    }
    return any;
}

/* Add COSTS for the call of CALLEE by FUNCTION at LINE, on the stack NUMBER. */
static void
add_call(struct graph *g, uint32_t function, uint32_t line, uint32_t callee, size_t number,
         int64_t calls, const int64_t costs[EVENTS])
{
    struct row *row = callgrind_find_row(g, function, callee, line);

    if (row->stack != number && calls > 0)
        row->calls = counters_sum(row->calls, calls);
    row->stack = number;
    if (g->functions[callee].stack != number)
        add_costs(row->costs, costs);
    g->functions[callee].stack = number;
}

static void
callgrind_add_stack(struct graph *g, const struct stack *s, size_t number)
{
    const char *above[] = {tags_root(g->p, g->roots, s->heap, s->labels, g->arena),
                           stack_root(g->p, s)};
    uint32_t caller = callgrind_function_id(g, "[all stacks]", "", 0), line = 0, callee;
    int64_t costs[EVENTS], calls = s->counters.allocations;

    if (!costs_of(g, &s->counters, costs))
        return;
    g->functions[caller].stack = number;
    for (size_t i = 0; i < countof(above); i++) {
        if (above[i] == NULL)
            continue;
        callee = callgrind_function_id(g, above[i], "", 0);
        add_call(g, caller, line, callee, number, calls, costs);
        caller = callee;
    }
    for (uint32_t i = s->depth; i-- > 0;) {
        callee = function_of_frame(g, s->frames[i], s->locations[i]);
        add_call(g, caller, line, callee, number, calls, costs);
        caller = callee;
        line = g->p->frames[s->frames[i]].line;
    }
    add_costs(callgrind_find_row(g, caller, 0, line)->costs, costs);
    add_costs(g->totals, costs);
}

static void
write_costs(const struct graph *g, const int64_t costs[EVENTS], struct strbuf *out)
{
    size_t count = g->event_count;

    while (count > 1 && costs[g->order[count - 1]] == 0)
        count--;
    for (size_t i = 0; i < count; i++) {
        int64_t cost = costs[g->order[i]];

        // Only sums of a damaged file overflow.
        strbuf_fmt(out, " %" PRId64, cost > 0 ? cost : 0);
    }
    strbuf_char(out, '\n');
}

static void
write_name(const char *what, uint32_t id, const char *name, bool *named, struct strbuf *out)
{
    strbuf_fmt(out, "%s=(%" PRIu32 ")", what, id);
    if (!named[id]) {
        strbuf_char(out, ' ');
        strbuf_str(out, name);
        named[id] = true;
    }
    strbuf_char(out, '\n');
}

/* Write function ID: its object and file, unless BESIDE has the same, and its name. WHAT are the
 * keys. */
static void
write_function(struct graph *g, uint32_t id, const struct function *beside,
               const char *const what[3], struct strbuf *out)
{
    const struct function *f = &g->functions[id];

    if (beside == NULL || beside->object != f->object) {
        strbuf_clear(&g->scratch);
        line_text(&g->scratch, g->p->modules[f->object].path);
        write_name(what[0], f->object, g->scratch.length ? strbuf_text(&g->scratch) : "???",
                   g->named_objects, out);
    }
    if (beside == NULL || beside->file != f->file)
        write_name(what[1], f->file, strtab_get(&g->files, f->file), g->named_files, out);
    write_name(what[2], f->name, strtab_get(&g->names, f->name), g->named_names, out);
}

static int
callgrind_compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    if (x->callee != y->callee)
        return x->callee < y->callee ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static void
write_rows(struct graph *g, struct strbuf *out)
{
    static const char *const own[] = {"ob", "fl", "fn"}, *const called[] = {"cob", "cfi", "cfn"};

    if (g->row_count > 0)
        qsort(g->rows, g->row_count, sizeof *g->rows, callgrind_compare_rows);
    for (size_t i = 0; i < g->row_count; i++) {
        const struct row *r = &g->rows[i];

        if (i == 0 || r->function != g->rows[i - 1].function) {
            strbuf_char(out, '\n');
            write_function(g, r->function, NULL, own, out);
        }
        if (r->callee != 0) {
            write_function(g, r->callee, &g->functions[r->function], called, out);
            // After 0 calls, callgrind_annotate would read the next line as a self cost of the
            // caller.
            strbuf_fmt(out, "calls=%" PRId64 " 0\n", r->calls > 0 ? r->calls : 1);
        }
        strbuf_fmt(out, "%" PRIu32, r->line);
        write_costs(g, r->costs, out);
        strbuf_pause(out);
    }
}

static void
callgrind_write_head(struct graph *g, const struct stacks *stacks, struct strbuf *out)
{
    const struct profile_process *pr = &g->p->process;
    const char *estimate = export_estimate(g->p, stacks, g->arena);

    strbuf_str(out, "# callgrind format\nversion: 1\ncreator: ");
    line_creator(out, g->p);
    strbuf_char(out, '\n');
    if (g->p->merged_processes == 0)
        strbuf_fmt(out, "pid: %" PRIu32 "\n", pr->pid);
    strbuf_str(out, "cmd: ");
    line_title(out, g->p, g->arena);
    strbuf_char(out, '\n');
    if (*estimate != '\0')
        strbuf_fmt(out, "desc: %s\n", estimate);
    if (g->negative)
        strbuf_str(out, "desc: Some values are negative and count as 0\n");
    strbuf_str(out, "positions: line\nevents:");
    for (size_t i = 0; i < g->event_count; i++)
        strbuf_fmt(out, " %s", event_names[g->order[i]]);
    strbuf_str(out, "\nsummary:");
    write_costs(g, g->totals, out);
}

static void
callgrind_release(struct graph *g)
{
    strtab_release(&g->names);
    strtab_release(&g->files);
    strbuf_release(&g->scratch);
    map_release(&g->name_files);
    map_release(&g->function_ids);
    map_release(&g->pairs);
    map_release(&g->row_ids);
    arena_release(g->arena);
}

int
export_callgrind(const struct profile *p, const struct stacks *stacks,
                 const struct export_options *options, struct strbuf *out, struct err *err)
{
    struct arena arena = {0};
    struct graph g = {.p = p, .roots = &options->roots, .arena = &arena};

    (void)err;
    order_events(&g, options->metric);
    g.known = arena_array(&arena, p->frame_count, sizeof *g.known);
    for (size_t i = 0; i < stacks->count; i++)
        callgrind_add_stack(&g, &stacks->v[i], i + 1);
    g.named_names = arena_array(&arena, g.names.count + 1, sizeof *g.named_names);
    g.named_files = arena_array(&arena, g.files.count + 1, sizeof *g.named_files);
    g.named_objects = arena_array(&arena, p->module_count, sizeof *g.named_objects);
    callgrind_write_head(&g, stacks, out);
    write_rows(&g, out);
    strbuf_str(out, "\ntotals:");
    write_costs(&g, g.totals, out);
    callgrind_release(&g);
    return 0;
}
