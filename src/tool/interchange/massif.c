/* massif.c: write live bytes over time in massif's format, which ms_print and massif-visualizer
 * read.
 *
 *     desc: heaptap 0.9                    any number of lines; one marks estimates
 *     cmd: prog --test
 *     time_unit: ms
 *     #-----------
 *     snapshot=0
 *     #-----------
 *     time=0
 *     mem_heap_B=4816
 *     mem_heap_extra_B=0                   overhead of the allocator; unknown
 *     mem_stacks_B=0
 *     heap_tree=peak                       or "detailed", or "empty" and no tree
 *     n2: 4816 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 *      n1: 4800 0x1138: make (a.c:3)       the allocating function
 *       n0: 4800 0x1189: main (a.c:20)     its callers, one blank further in
 *      n0: 16 in 3 places, all below massif's threshold (1.00%)
 *
 * The number after n is the number of the following lines one blank further in. Children are sorted
 * by falling size; those below a hundredth of the snapshot share a line without children.
 *
 * The snapshots come from the history. Some have trees: evenly spread ones, and named ones. One
 * more is at the peak, whose tree is exact although no snapshot lies there. Without a history they
 * are the start, the peak and the end. A profile cut at a moment ends there, and one cut to a
 * period has that period. Both lack a peak, and so do several processes together; then the largest
 * snapshot is marked as the peak.
 *
 * Readers require that no child exceeds its snapshot, times rise and no number is negative. So a
 * negative stack (a row in flight) counts as 0, in total and tree. ms_print takes a '#' in a name
 * for a comment and drops the rest of that name.
 *
 * Callers of main and of thread functions are left out, as in massif. A tree ends after DEPTH_MAX
 * callers, because blanks grow with the square of the depth (massif ends after 30).
 *
 * Stacks are sorted once, innermost frame first. The stacks below a line are then a range, and a
 * tree visits only ranges that it shows. */
#include "interchange/interchange.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "export/exporter.h"
#include "interchange/line_text.h"
#include "profile/time_slice.h"
#include "util/path.h"

enum {
    DEPTH_MAX = 200,
    TREES = 16,       // Number of evenly spread trees, besides the peak and the end.
    NAMED_TREES = 16, // Maximum number of further trees at named moments.
    THRESHOLD = 100,  // A child below this fraction of a snapshot gets no separate line.
    NS_PER_MS = 1000000,
};

/* Text of a frame; frames with equal text share a place. */
struct place {
    uint32_t name, file, line, module; // Ids in names and of P's strings; file 0 = unknown.
    uint64_t address;                  // Address of the first such frame.
};

/* A stack, innermost place first. */
struct path {
    const uint32_t *places;
    uint32_t depth;
    uint32_t stack; // Index into stacks.
};

/* A line of a tree: the paths that share their first places. */
struct range {
    size_t first, end; // Range of paths.
    int64_t bytes;
    uint32_t depth;  // Number of shared places; the last one is shown.
    uint32_t places; // Number of children in a line for small ones; else 0.
};

struct writer {
    const struct profile *p;
    const struct stacks *stacks;
    const struct tag_roots *roots;
    struct arena *arena;
    struct strbuf *out;
    struct strtab names;
    struct strbuf scratch;
    struct map pairs, triples, place_ids; // Parts of a place to its id.
    struct place *places;                 // Index 0 is unused.
    size_t place_capacity;
    uint32_t *known; // By frame: id of its place; 0 = not yet known.
    struct path *paths;
    int64_t *live; // By stack: live bytes at the current moment, at least 0.
    int64_t *now;  // By stack: live bytes at the current moment, possibly negative.
    int64_t total; // Sum of live.
    struct range *open; // Pending lines of the tree, the next one last.
    size_t open_count, open_capacity;
    struct range *level; // Lines below one line.
    size_t level_capacity;
    size_t written; // Number of snapshots written.
    uint64_t latest_ms;
    size_t named_trees;
};

static uint32_t
massif_dense_id(struct map *m, uint64_t key, bool *ret_new)
{
    uint64_t *id = map_put(m, key, ret_new);

    if (*ret_new)
        *id = m->count;
    return (uint32_t)*id;
}

static uint32_t
place_id(struct writer *w, const char *name, const struct place *place)
{
    bool is_new;
    uint64_t pair, triple;
    uint32_t id, name_id;

    strbuf_clear(&w->scratch);
    line_text(&w->scratch, name);
    name_id = strtab_id(&w->names, strbuf_text(&w->scratch));
    pair = massif_dense_id(&w->pairs, (uint64_t)name_id << 32 | place->file, &is_new);
    triple = massif_dense_id(&w->triples, pair << 32 | place->line, &is_new);
    id = massif_dense_id(&w->place_ids, triple << 32 | place->module, &is_new);
    if (is_new) {
        arena_grow(w->arena, &w->places, &w->place_capacity, id, sizeof *w->places);
        w->places[id] = *place;
        w->places[id].name = name_id;
    }
    return id;
}

static uint32_t
place_of_frame(struct writer *w, uint32_t frame, uint32_t location)
{
    const struct profile_frame *f = &w->p->frames[frame];
    struct place place = {0, f->file, f->line, f->module,
                          location_pc(&w->p->locations[location])};
    uint32_t id = w->known[frame];

    if (id != 0)
        return id;
    id = place_id(w, frame_name(w->p, frame, location, w->arena), &place);
    // Without a function, the location determines the name.
    if (f->function != 0)
        w->known[frame] = id;
    return id;
}

static struct path
path_of_stack(struct writer *w, uint32_t index)
{
    const struct stack *s = &w->stacks->v[index];
    const char *tag = tags_root(w->p, w->roots, s->heap, s->labels, w->arena);
    const char *root = stack_root(w->p, s);
    uint32_t depth = s->depth > 0 ? stack_useful_depth(w->p, s) : 0, count = 0;
    uint32_t *places = arena_array(w->arena, (size_t)depth + 2, sizeof *places);

    for (uint32_t i = 0; i < depth; i++)
        places[count++] = place_of_frame(w, s->frames[i], s->locations[i]);
    if (root != NULL)
        places[count++] = place_id(w, root, &(struct place){0});
    if (tag != NULL)
        places[count++] = place_id(w, tag, &(struct place){0});
    return (struct path){places, count, index};
}

static int
compare_paths(const void *a, const void *b)
{
    const struct path *x = a, *y = b;
    uint32_t i = 0;

    while (i < x->depth && i < y->depth && x->places[i] == y->places[i])
        i++;
    if (i == x->depth || i == y->depth) {
        if (x->depth != y->depth)
            return x->depth < y->depth ? -1 : 1;
        return x->stack < y->stack ? -1 : x->stack > y->stack;
    }
    return x->places[i] < y->places[i] ? -1 : 1;
}

/* Compare by size, largest first; the line for small children comes last. */
static int
compare_ranges(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    if ((x->places != 0) != (y->places != 0))
        return x->places != 0 ? 1 : -1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Store the lines below R in w->level. TOTAL is the size of the tree. Return their number. */
static size_t
find_level(struct writer *w, const struct range *r, const int64_t *values, int64_t total)
{
    struct range small = {.first = r->end, .end = r->end, .depth = r->depth + 1};
    size_t count = 0;

    for (size_t i = r->first; i < r->end && r->depth < DEPTH_MAX;) {
        struct range below = {.first = i, .depth = r->depth + 1};
        const struct path *first = &w->paths[i];

        // Stacks that end with R come first in its range.
        for (; i < r->end && (first->depth > r->depth
                                  ? w->paths[i].places[r->depth] == first->places[r->depth]
                                  : w->paths[i].depth == r->depth);
             i++)
            below.bytes = counters_sum(below.bytes, values[w->paths[i].stack]);
        below.end = i;
        if (first->depth == r->depth || below.bytes <= 0)
            continue;
        if (below.bytes < total / THRESHOLD + (total % THRESHOLD != 0)) {
            small.bytes = counters_sum(small.bytes, below.bytes);
            small.places++;
            continue;
        }
        arena_grow(w->arena, &w->level, &w->level_capacity, count, sizeof *w->level);
        w->level[count++] = below;
    }
    if (small.places > 0) {
        arena_grow(w->arena, &w->level, &w->level_capacity, count, sizeof *w->level);
        w->level[count++] = small;
    }
    if (count > 0)
        qsort(w->level, count, sizeof *w->level, compare_ranges);
    return count;
}

static void
write_place(struct writer *w, const struct place *place)
{
    const char *file = profile_string(w->p, place->file);

    strbuf_fmt(w->out, "0x%" PRIX64 ": ", place->address);
    strbuf_str(w->out, strtab_get(&w->names, place->name));
    if (*file != '\0') {
        strbuf_str(w->out, " (");
        line_text(w->out, path_basename(file));
        strbuf_fmt(w->out, ":%" PRIu32 ")", place->line);
    } else if (place->module != 0) {
        strbuf_str(w->out, " (in ");
        line_text(w->out, w->p->modules[place->module].path);
        strbuf_char(w->out, ')');
    }
}

static void
massif_write_line(struct writer *w, const struct range *r, size_t below)
{
    strbuf_fmt(w->out, "%*sn%zu: %" PRId64 " ", (int)r->depth, "", below,
               r->bytes > 0 ? r->bytes : 0);
    if (r->places > 0)
        strbuf_fmt(w->out, "in %" PRIu32 " place%s, all below massif's threshold (1.00%%)",
                   r->places, r->places == 1 ? "" : "s");
    else if (r->depth == 0)
        strbuf_str(w->out, "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.");
    else
        write_place(w, &w->places[w->paths[r->first].places[r->depth - 1]]);
    strbuf_char(w->out, '\n');
    strbuf_pause(w->out);
}

/* Write the tree of VALUES, by stack, which are nonnegative and sum to TOTAL. */
static void
massif_write_tree(struct writer *w, const int64_t *values, int64_t total)
{
    arena_grow(w->arena, &w->open, &w->open_capacity, 0, sizeof *w->open);
    w->open[0] = (struct range){0, w->stacks->count, total, 0, 0};
    w->open_count = 1;
    while (w->open_count > 0) {
        struct range r = w->open[--w->open_count];
        size_t below = r.places > 0 ? 0 : find_level(w, &r, values, total);

        massif_write_line(w, &r, below);
        for (size_t i = below; i-- > 0;) {
            arena_grow(w->arena, &w->open, &w->open_capacity, w->open_count, sizeof *w->open);
            w->open[w->open_count++] = w->level[i];
        }
    }
}

/* Write a snapshot. TREE is "empty", "detailed" or "peak". */
static void
write_snapshot(struct writer *w, uint64_t elapsed_ns, const char *tree, const int64_t *values,
               int64_t total)
{
    uint64_t ms = elapsed_ns / NS_PER_MS;

    if (ms < w->latest_ms)
        ms = w->latest_ms; // The last event may be a little older than the last snapshot.
    w->latest_ms = ms;
    // Only sums of a damaged file overflow.
    strbuf_fmt(w->out,
               "#-----------\nsnapshot=%zu\n#-----------\ntime=%" PRIu64 "\nmem_heap_B=%" PRId64
               "\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
               w->written++, ms, total < 0 ? 0 : total, tree);
    if (strcmp(tree, "empty") != 0)
        massif_write_tree(w, values, total < 0 ? 0 : total);
    strbuf_pause(w->out);
}

/* Write a snapshot of the counters at the peak, or at the end. */
static void
write_counted(struct writer *w, uint64_t elapsed_ns, bool at_peak)
{
    int64_t *values = arena_array(w->arena, w->stacks->count, sizeof *values), total = 0;

    for (size_t i = 0; i < w->stacks->count; i++) {
        const struct counters *c = &w->stacks->v[i].counters;
        int64_t bytes = at_peak && w->p->extent == EXTENT_WHOLE ? c->peak_bytes
                                                                : counters_live_bytes(c);

        values[i] = bytes > 0 ? bytes : 0;
        total = counters_sum(total, values[i]);
    }
    write_snapshot(w, elapsed_ns, at_peak ? "peak" : "detailed", values, total);
}

static void
apply_change(struct writer *w, const struct profile_change *change)
{
    uint32_t stack = w->stacks->site_stacks[w->p->thread_sites[change->thread_site].site];

    if (stack == 0)
        return;
    stack--;
    w->now[stack] = counters_sum(w->now[stack], profile_amounts_live(&change->amounts));
    w->total = counters_difference(w->total, w->live[stack]);
    w->live[stack] = w->now[stack] > 0 ? w->now[stack] : 0;
    w->total = counters_sum(w->total, w->live[stack]);
}

/* Return true if moment N of FIRST to LAST gets a tree. */
static bool
is_detailed(struct writer *w, size_t n, size_t first, size_t last)
{
    size_t step = (last - first + TREES) / TREES;

    if (n == last || (n - first) % step == step - 1)
        return true;
    return *point_at(w->p, n).name != '\0' && n > 0 && w->named_trees++ < NAMED_TREES;
}

/* Changes of the history by interval. The changes of interval I end at ends[I] of order. */
struct changes {
    size_t *ends;
    uint32_t *order;
    size_t done; // Number of changes applied.
};

static void
massif_sort_changes(struct writer *w, struct changes *c)
{
    const struct profile *p = w->p;

    c->ends = arena_array(w->arena, p->snapshot_count + 3, sizeof *c->ends);
    c->order = arena_array(w->arena, p->change_count, sizeof *c->order);
    for (size_t i = 0; i < p->change_count; i++)
        c->ends[p->changes[i].interval + 1]++;
    for (size_t i = 1; i < p->snapshot_count + 3; i++)
        c->ends[i] += c->ends[i - 1];
    // ends[I] is now the start of interval I. Storing a change advances it, at last to the end.
    for (size_t i = 0; i < p->change_count; i++)
        c->order[c->ends[p->changes[i].interval]++] = (uint32_t)i;
}

static void
go_to_point(struct writer *w, struct changes *c, size_t n)
{
    for (; n > 0 && c->done < c->ends[n - 1]; c->done++)
        apply_change(w, &w->p->changes[c->order[c->done]]);
}

/* Return the moment from FIRST to LAST at which most bytes were live. */
static size_t
largest_point(struct writer *w, struct changes *c, size_t first, size_t last)
{
    size_t largest = first;
    int64_t bytes = 0;

    for (size_t n = first; n <= last; n++) {
        go_to_point(w, c, n);
        if (w->total > bytes) {
            bytes = w->total;
            largest = n;
        }
    }
    c->done = 0;
    w->total = 0;
    memset(w->live, 0, w->stacks->count * sizeof *w->live);
    memset(w->now, 0, w->stacks->count * sizeof *w->now);
    return largest;
}

static void
write_history(struct writer *w, size_t first, size_t last)
{
    const struct profile *p = w->p;
    bool peak_due = p->extent == EXTENT_WHOLE && p->merged_processes == 0;
    struct changes changes = {0};
    size_t largest;

    massif_sort_changes(w, &changes);
    largest = peak_due ? SIZE_MAX : largest_point(w, &changes, first, last);
    for (size_t n = first; n <= last; n++) {
        struct profile_point point = point_at(p, n);
        bool detailed = is_detailed(w, n, first, last);

        if (peak_due && (n == last || point.elapsed_ns >= p->peak_elapsed_ns)) {
            write_counted(w, p->peak_elapsed_ns, true);
            peak_due = false;
        }
        go_to_point(w, &changes, n);
        write_snapshot(w, point.elapsed_ns,
                       n == largest ? "peak"
                       : detailed   ? "detailed"
                                    : "empty",
                       w->live, w->total);
    }
}

static void
write_snapshots(struct writer *w)
{
    const struct profile *p = w->p;

    if (p->extent == EXTENT_PEAK) {
        write_counted(w, p->to.elapsed_ns, true);
    } else if (p->has_history) {
        write_history(w, p->extent == EXTENT_BETWEEN ? p->from.snapshots : 0,
                      p->extent == EXTENT_WHOLE ? p->snapshot_count + 1 : p->to.snapshots);
    } else {
        write_snapshot(w, 0, "empty", w->live, 0);
        write_counted(w, p->peak_elapsed_ns, true);
        write_counted(w, p->process.elapsed_ns, false);
    }
}

static void
massif_write_head(struct writer *w)
{
    const char *estimate = export_estimate(w->p, w->stacks, w->arena);

    strbuf_str(w->out, "desc: ");
    line_creator(w->out, w->p);
    if (*estimate != '\0')
        strbuf_fmt(w->out, "\ndesc: %s", estimate);
    strbuf_str(w->out, "\ncmd: ");
    line_title(w->out, w->p, w->arena);
    strbuf_str(w->out, "\ntime_unit: ms\n");
}

int
export_massif(const struct profile *p, const struct stacks *stacks,
              const struct export_options *options, struct strbuf *out, struct err *err)
{
    struct arena arena = {0};
    struct writer w = {
        .p = p, .stacks = stacks, .roots = &options->roots, .arena = &arena, .out = out};

    (void)err;
    w.known = arena_array(&arena, p->frame_count, sizeof *w.known);
    w.paths = arena_array(&arena, stacks->count, sizeof *w.paths);
    w.live = arena_array(&arena, stacks->count, sizeof *w.live);
    w.now = arena_array(&arena, stacks->count, sizeof *w.now);
    for (uint32_t i = 0; i < stacks->count; i++)
        w.paths[i] = path_of_stack(&w, i);
    if (stacks->count > 0)
        qsort(w.paths, stacks->count, sizeof *w.paths, compare_paths);
    massif_write_head(&w);
    write_snapshots(&w);
    strtab_release(&w.names);
    strbuf_release(&w.scratch);
    map_release(&w.pairs);
    map_release(&w.triples);
    map_release(&w.place_ids);
    arena_release(&arena);
    return 0;
}
