/* firefox.c: write a processed profile of the Firefox Profiler, with native allocations over time.
 *
 *     {
 *       "meta": {"version": 24, "preprocessedProfileVersion": 48, "symbolicated": true,
 *                "interval": 1, "startTime": 1700000000000, "product": "prog (pid 4711)", ...},
 *       "libs": [],
 *       "threads": [{
 *         "name": "bytes", "pid": "4711", "tid": 4711, ...
 *         "nativeAllocations": {"time": [10,10,20], "weight": [60,40,-40], "weightType": "bytes",
 *           "stack": [3,3,3], "memoryAddress": [1,2,2], "threadId": [1,1,1], "length": 3},
 *         "stackTable": {"prefix": [null,0,1,2], "frame": [0,1,2,3], ...},
 *         "frameTable": {"func": [0,1,2,3], "line": [null,20,10,3], ...},
 *         "funcTable": {"name": [0,2,3,4], "fileName": [1,1,1,1], ...},
 *         "stringArray": ["main","src/a.c","work","make"]
 *       }]
 *     }
 *
 * The format consists of tables of columns. Stacks are a tree whose rows refer to their caller. The
 * versions are old ones, which the reader promises to accept forever. There is one thread, because
 * all numbers are of the whole process, and one sample without a stack, because a thread needs one.
 *
 * A profile stores the amounts that each stack had allocated and freed at each snapshot. An entry
 * covers the changes between two snapshots and has the time of the later one. The reader computes
 * memory in use by matching: a negative entry cancels the whole entry with the same address. So
 * each stack's allocations are cut into pieces with distinct addresses, each freed as a whole. The
 * latest piece is freed first, which keeps old memory old. Positive entries sum to the allocated
 * amount, and all entries to the final live amount.
 *
 * Bytes and counts are always both written; other metrics do not fit. The reader can select periods
 * itself, so a profile cut by --at or --between is refused. A row in flight may have freed more
 * than it had allocated; it counts as 0. */
#include "interchange/interchange.h"

#include <inttypes.h>
#include <stdlib.h>

#include "export/exporter.h"
#include "export/frame_table.h"
#include "profile/time_slice.h"
#include "util/json_out.h"

#define NO_VALUE INT64_MIN

/* Amounts that a stack allocated and freed in an interval between snapshots. */
struct change {
    uint32_t stack, interval;
    int64_t allocated, freed;
};

/* Memory that a stack has allocated and not yet freed. */
struct piece {
    uint32_t interval;
    int64_t bytes;
};

struct entry {
    uint32_t interval, stack; // Row of the stack table.
    int64_t weight;
    uint64_t address;
};

struct stack_row {
    uint32_t prefix, row; // Row of the stack table plus 1, 0 = none; row of the frame table.
};

struct writer {
    const struct profile *p;
    const struct stacks *stacks;
    struct arena *arena;
    struct frame_table frames;
    struct map children; // prefix << 32 | row to the row of the stack table.
    struct stack_row *rows;
    size_t row_count, row_capacity;
    struct change *changes;
    size_t change_count;
    struct piece *held;
    size_t held_count, held_capacity;
    struct entry *entries;
    size_t entry_count, entry_capacity;
    uint64_t addresses;
    uint64_t *ends_ns; // By interval.
    struct strtab strings;
    struct json j;
};

static int64_t
firefox_at_least_zero(int64_t value)
{
    return value > 0 ? value : 0;
}

static int
compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    return x->interval < y->interval ? -1 : x->interval > y->interval;
}

/* Collect the changes of each stack by time, summed over threads and sites. */
static void
collect_changes(struct writer *w)
{
    const struct profile *p = w->p;
    size_t count = 0, sums = 0;

    w->changes = arena_array(w->arena, p->has_history ? p->change_count : w->stacks->count,
                             sizeof *w->changes);
    for (size_t i = 0; p->has_history && i < p->change_count; i++) {
        const struct profile_change *c = &p->changes[i];
        uint32_t stack = w->stacks->site_stacks[p->thread_sites[c->thread_site].site];

        if (stack != 0)
            w->changes[count++] = (struct change){stack - 1, c->interval,
                                                  c->amounts.allocated_bytes,
                                                  c->amounts.freed_bytes};
    }
    for (size_t i = 0; !p->has_history && i < w->stacks->count; i++) {
        const struct counters *c = &w->stacks->v[i].counters;

        w->changes[count++] =
            (struct change){(uint32_t)i, (uint32_t)p->snapshot_count, c->allocated_bytes,
                            c->freed_bytes};
    }
    if (count > 0)
        qsort(w->changes, count, sizeof *w->changes, compare_changes);
    for (size_t i = 0; i < count; i++) {
        if (sums > 0 && compare_changes(&w->changes[sums - 1], &w->changes[i]) == 0) {
            struct change *sum = &w->changes[sums - 1];

            sum->allocated = counters_sum(sum->allocated, w->changes[i].allocated);
            sum->freed = counters_sum(sum->freed, w->changes[i].freed);
        } else {
            w->changes[sums++] = w->changes[i];
        }
    }
    w->change_count = sums;
}

static uint32_t
stack_row(struct writer *w, const struct stack *s)
{
    size_t count;
    const uint32_t *rows = frame_table_stack(&w->frames, s, &count);
    uint32_t prefix = 0;

    for (size_t i = 0; i < count; i++) {
        bool new;
        uint64_t *slot = map_put(&w->children, (uint64_t)prefix << 32 | rows[i], &new);

        if (new) {
            arena_grow(w->arena, &w->rows, &w->row_capacity, w->row_count, sizeof *w->rows);
            w->rows[w->row_count] = (struct stack_row){prefix, rows[i]};
            *slot = w->row_count++;
        }
        prefix = (uint32_t)*slot + 1;
    }
    return prefix - 1;
}

static void
firefox_add_entry(struct writer *w, uint32_t interval, uint32_t row, int64_t weight)
{
    arena_grow(w->arena, &w->entries, &w->entry_capacity, w->entry_count, sizeof *w->entries);
    w->entries[w->entry_count++] = (struct entry){interval, row, weight, w->addresses};
}

/* Add a piece of BYTES, allocated by the stack at ROW in the interval FIRST and freed in LAST. LAST
 * is NO_VALUE if the piece is live. */
static void
firefox_add_piece(struct writer *w, uint32_t row, int64_t bytes, uint32_t first, int64_t last)
{
    w->addresses++;
    firefox_add_entry(w, first, row, bytes);
    if (last != NO_VALUE)
        firefox_add_entry(w, (uint32_t)last, row, -bytes);
}

static void
firefox_add_change(struct writer *w, uint32_t row, const struct change *c)
{
    int64_t allocated = firefox_at_least_zero(c->allocated),
            freed = firefox_at_least_zero(c->freed);

    if (allocated > 0) {
        arena_grow(w->arena, &w->held, &w->held_capacity, w->held_count, sizeof *w->held);
        w->held[w->held_count++] = (struct piece){c->interval, allocated};
    }
    while (freed > 0 && w->held_count > 0) {
        struct piece *top = &w->held[w->held_count - 1];
        int64_t bytes = top->bytes < freed ? top->bytes : freed;

        firefox_add_piece(w, row, bytes, top->interval, c->interval);
        freed -= bytes;
        top->bytes -= bytes;
        w->held_count -= top->bytes == 0;
    }
}

/* Compare by time; allocations precede frees. */
static int
firefox_compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->interval != y->interval)
        return x->interval < y->interval ? -1 : 1;
    if ((x->weight > 0) != (y->weight > 0))
        return x->weight > 0 ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

static void
make_entries(struct writer *w)
{
    collect_changes(w);
    for (size_t i = 0; i < w->change_count;) {
        uint32_t stack = w->changes[i].stack;
        uint32_t row = stack_row(w, &w->stacks->v[stack]);

        w->held_count = 0;
        for (; i < w->change_count && w->changes[i].stack == stack; i++)
            firefox_add_change(w, row, &w->changes[i]);
        for (size_t k = 0; k < w->held_count; k++)
            firefox_add_piece(w, row, w->held[k].bytes, w->held[k].interval, NO_VALUE);
    }
    if (w->entry_count > 0)
        qsort(w->entries, w->entry_count, sizeof *w->entries, firefox_compare_entries);
}

static void
find_ends(struct writer *w)
{
    uint64_t latest_ns = 0;

    w->ends_ns = arena_array(w->arena, w->p->snapshot_count + 1, sizeof *w->ends_ns);
    for (size_t i = 0; i <= w->p->snapshot_count; i++) {
        struct profile_point end = point_at(w->p, i + 1);

        // The last event may be a little older than the last snapshot.
        if (end.elapsed_ns > latest_ns)
            latest_ns = end.elapsed_ns;
        w->ends_ns[i] = latest_ns;
    }
}

/* Return the value of a column in row I; NO_VALUE is null. */
typedef int64_t column_fn(struct writer *w, size_t i);

static int64_t
no_value(struct writer *w, size_t i)
{
    (void)w;
    (void)i;
    return NO_VALUE;
}

static int64_t
zero(struct writer *w, size_t i)
{
    (void)w;
    (void)i;
    return 0;
}

static int64_t
minus_one(struct writer *w, size_t i)
{
    (void)w;
    (void)i;
    return -1;
}

static int64_t
itself(struct writer *w, size_t i)
{
    (void)w;
    return (int64_t)i;
}

/* Return the time of entry I in milliseconds. */
static int64_t
entry_time(struct writer *w, size_t i)
{
    return (int64_t)(w->ends_ns[w->entries[i].interval] / 1000000);
}

static int64_t
entry_weight(struct writer *w, size_t i)
{
    return w->entries[i].weight;
}

static int64_t
entry_stack(struct writer *w, size_t i)
{
    return w->entries[i].stack;
}

static int64_t
entry_address(struct writer *w, size_t i)
{
    return (int64_t)w->entries[i].address;
}

static int64_t
stack_prefix(struct writer *w, size_t i)
{
    return w->rows[i].prefix == 0 ? NO_VALUE : (int64_t)w->rows[i].prefix - 1;
}

static int64_t
stack_frame(struct writer *w, size_t i)
{
    return w->rows[i].row;
}

static int64_t
frame_line(struct writer *w, size_t i)
{
    return w->frames.v[i].line != 0 ? (int64_t)w->frames.v[i].line : NO_VALUE;
}

static int64_t
function_name(struct writer *w, size_t i)
{
    return strtab_id(&w->strings, w->frames.v[i].name);
}

static int64_t
function_file(struct writer *w, size_t i)
{
    const char *file = w->frames.v[i].file;

    return *file != '\0' ? (int64_t)strtab_id(&w->strings, file) : NO_VALUE;
}

struct column {
    const char *name;
    column_fn *of; // NULL: all values are false.
};

static void
write_column(struct writer *w, const struct column *c, size_t rows)
{
    json_array_filled(&w->j, c->name);
    for (size_t i = 0; i < rows; i++) {
        int64_t value = c->of != NULL ? c->of(w, i) : 0;

        if (c->of == NULL)
            json_bool(&w->j, NULL, false);
        else if (value == NO_VALUE)
            json_string(&w->j, NULL, NULL);
        else
            json_int(&w->j, NULL, value);
    }
    json_end(&w->j);
}

/* Begin a table of COUNT columns with ROWS rows. It stays open for further members. */
static void
begin_table(struct writer *w, const char *key, const struct column *columns, size_t count,
            size_t rows)
{
    json_object(&w->j, key);
    for (size_t i = 0; i < count; i++)
        write_column(w, &columns[i], rows);
    json_uint(&w->j, "length", rows);
}

static void
write_allocations(struct writer *w)
{
    static const struct column columns[] = {{"time", entry_time},
                                            {"weight", entry_weight},
                                            {"stack", entry_stack},
                                            {"memoryAddress", entry_address},
                                            {"threadId", zero}};

    begin_table(w, "nativeAllocations", columns, countof(columns), w->entry_count);
    json_string(&w->j, "weightType", "bytes");
    json_end(&w->j);
}

static void
write_tables(struct writer *w)
{
    static const struct column sample[] = {{"stack", no_value}, {"time", zero}};
    static const struct column markers[] = {{"data", zero},      {"name", zero},
                                            {"startTime", zero}, {"endTime", zero},
                                            {"phase", zero},     {"category", zero}};
    static const struct column stacks[] = {{"prefix", stack_prefix},
                                           {"frame", stack_frame},
                                           {"category", zero},
                                           {"subcategory", zero}};
    static const struct column frames[] = {
        {"address", minus_one},     {"inlineDepth", zero}, {"category", zero},
        {"subcategory", zero},      {"func", itself},      {"nativeSymbol", no_value},
        {"innerWindowID", zero},    {"line", frame_line},  {"column", no_value},
        {"implementation", no_value}};
    static const struct column functions[] = {
        {"isJS", NULL},        {"relevantForJS", NULL},   {"name", function_name},
        {"resource", minus_one}, {"fileName", function_file}, {"lineNumber", no_value},
        {"columnNumber", no_value}};
    static const struct column resources[] = {
        {"lib", zero}, {"name", zero}, {"host", zero}, {"type", zero}};
    static const struct column symbols[] = {
        {"libIndex", zero}, {"address", zero}, {"name", zero}, {"functionSize", zero}};

    begin_table(w, "samples", sample, countof(sample), 1);
    json_string(&w->j, "weight", NULL);
    json_string(&w->j, "weightType", "samples");
    json_end(&w->j);
    begin_table(w, "markers", markers, countof(markers), 0);
    json_end(&w->j);
    begin_table(w, "stackTable", stacks, countof(stacks), w->row_count);
    json_end(&w->j);
    begin_table(w, "frameTable", frames, countof(frames), w->frames.count);
    json_end(&w->j);
    begin_table(w, "funcTable", functions, countof(functions), w->frames.count);
    json_end(&w->j);
    begin_table(w, "resourceTable", resources, countof(resources), 0);
    json_end(&w->j);
    begin_table(w, "nativeSymbols", symbols, countof(symbols), 0);
    json_end(&w->j);
}

static void
write_meta(struct writer *w)
{
    struct json *j = &w->j;

    json_object(j, "meta");
    json_uint(j, "version", 24);
    json_uint(j, "preprocessedProfileVersion", 48);
    json_bool(j, "symbolicated", true);
    json_uint(j, "interval", 1);
    json_uint(j, "startTime", w->p->process.start_unix_ns / 1000000);
    json_uint(j, "processType", 0);
    json_uint(j, "stackwalk", 1);
    json_bool(j, "debug", false);
    json_string(j, "product", title_profile(w->p, w->stacks, w->arena));
    json_string(j, "importedFrom", title_exporter(w->p, w->arena));
    json_array(j, "categories");
    json_object_line(j, NULL);
    json_string(j, "name", "Other");
    json_string(j, "color", "grey");
    json_array(j, "subcategories");
    json_string(j, NULL, "Other");
    json_end(j);
    json_end(j);
    json_end(j);
    json_array(j, "markerSchema");
    json_end(j);
    json_end(j);
}

static void
firefox_write_file(struct writer *w)
{
    struct json *j = &w->j;

    json_object(j, NULL);
    write_meta(w);
    json_array(j, "libs");
    json_end(j);
    json_array(j, "pages");
    json_end(j);
    json_array(j, "threads");
    json_object(j, NULL);
    json_string(j, "processType", "default");
    json_uint(j, "processStartupTime", 0);
    json_string(j, "processShutdownTime", NULL);
    json_uint(j, "registerTime", 0);
    json_string(j, "unregisterTime", NULL);
    json_array(j, "pausedRanges");
    json_end(j);
    json_string(j, "name", "all threads");
    json_bool(j, "isMainThread", true);
    json_string(j, "pid", arena_printf(w->arena, "%" PRIu32, w->p->process.pid));
    json_uint(j, "tid", w->p->process.pid);
    write_allocations(w);
    write_tables(w);
    json_array(j, "stringArray");
    for (uint32_t i = 0; i < w->strings.count; i++)
        json_string(j, NULL, strtab_get(&w->strings, i));
    json_end(j);
    json_end(j);
    json_end(j);
    json_end(j);
}

int
export_firefox(const struct profile *p, const struct stacks *stacks,
               const struct export_options *options, struct strbuf *out, struct err *err)
{
    struct arena arena = {0};
    struct writer w = {.p = p, .stacks = stacks, .arena = &arena};

    if (p->extent != EXTENT_WHOLE)
        return err_set(err, HEAPTAP_USAGE,
                       "the firefox format has all moments; choose one in the viewer instead of "
                       "--at or --between");
    if (options->metric != METRIC_INUSE && options->metric != METRIC_ALLOC)
        return err_set(err, HEAPTAP_USAGE,
                       "the firefox format has bytes in use and allocated, not the metric '%s'",
                       metric_name(options->metric));
    strtab_id(&w.strings, "");
    frame_table_init(&w.frames, p, stacks, &options->roots, &arena);
    json_begin(&w.j, out, JSON_VERSION_TABLES);
    make_entries(&w);
    find_ends(&w);
    firefox_write_file(&w);
    strtab_release(&w.strings);
    map_release(&w.children);
    frame_table_release(&w.frames);
    arena_release(&arena);
    return 0;
}
