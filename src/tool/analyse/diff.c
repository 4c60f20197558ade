/* diff.c: match the stacks of two profiles.
 *
 * Addresses differ between any two runs, lines between two versions of a source, and directories
 * between two builds. Functions, inlining and the ends of file paths (diff_files.c) stay the same.
 * So each frame gets an id by (function, file, inlined), which both profiles share.
 *
 * Each stack is walked from the root into one common tree, whose edges are exact 64-bit keys
 * (parent << 32 | frame id). Heap and labels are two further edges, by name. Stacks that end at the
 * same node are one row. A stack that a limit has truncated begins at a separate frame, so it is
 * in another row than a whole stack with the same inner frames. Two stacks of one profile that
 * differ only in lines are one row as well, and their frames with several lines are marked. A
 * renamed function is another function: its row falls to zero and a new row appears.
 *
 * By function, a stack counts once for each of its functions, however often recursion repeats it;
 * `seen` stores the last stack counted. Inlined and other calls of a function are not
 * distinguished. */
#include "analyse/diff.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "profile/profile_valid.h"
#include "util/ensure.h"
#include "util/strbuf.h"

struct entry {
    struct diff_frame frame;
    // With DIFF_BY_FUNCTION: index of the row plus 1, and number of the last stack counted, over
    // both sides. 0 = none yet.
    uint32_t row;
    uint64_t seen;
};

struct builder {
    struct arena *arena;
    enum diff_by by;
    enum metric metric;
    struct strtab keys; // Text of a frame to its entry plus 1.
    struct strtab tags; // Names of heaps, and texts of label sets.
    struct strbuf key;
    struct diff_files files;
    struct entry *entries;
    size_t entry_count, entry_capacity;
    struct map children; // parent << 32 | edge to node; the root is 0.
    struct map rows_by_node;
    struct diff *ret;
    size_t row_capacity;
    uint64_t stack_number;
    uint32_t *known; // By frame of the current side: entry plus 1; 0 = not read yet.
};

static void diff_add_stack(struct builder *b, const struct diff_side *side, const struct stack *s,
                           bool is_after);
static void diff_sort_rows(struct builder *b);

static void
diff_add_side(struct builder *b, const struct diff_side *side, bool is_after)
{
    b->known = arena_array(b->arena, side->p->frame_count, sizeof *b->known);
    for (size_t i = 0; i < side->stacks->count; i++)
        diff_add_stack(b, side, &side->stacks->v[i], is_after);
}

/* Widen OWN and INCLUSIVE, the errors of a row with blocks of SIZES, by the amount that the samples
 * of P may have missed, even if P lacks the row. */
static void
add_missed(const struct profile *p, const struct counters *sizes, struct errors **own,
           struct errors **inclusive, struct arena *arena)
{
    struct errors missed;

    if (p->longest_bytes == 0 && p->longest_calls == 0)
        return;
    missed = profile_missed(p, sizes);
    errors_add_units(errors_of(own, arena), &missed);
    errors_add_units(errors_of(inclusive, arena), &missed);
}

/* Add to *INCLUSIVE, the errors of a row that STACKS lack, the blocks whose callers are unknown. */
static void
diff_add_callerless(const struct stacks *stacks, struct errors **inclusive, struct arena *arena)
{
    if (stacks->has_callerless)
        memcpy(errors_of(inclusive, arena)->callerless, stacks->callerless,
               sizeof stacks->callerless);
}

/* Call add_missed for both sides of ROW. Estimates the block sizes from both sides, because one
 * side may have no sample. */
static void
add_missed_of_sides(struct builder *b, struct diff_row *row, const struct diff_side *before,
                    const struct diff_side *after)
{
    struct counters sizes = row->inclusive_before;

    counters_add(&sizes, &row->inclusive_after);
    add_missed(before->p, &sizes, &row->before_errors, &row->inclusive_before_errors, b->arena);
    add_missed(after->p, &sizes, &row->after_errors, &row->inclusive_after_errors, b->arena);
    if (!row->in_before)
        diff_add_callerless(before->stacks, &row->inclusive_before_errors, b->arena);
    if (!row->in_after)
        diff_add_callerless(after->stacks, &row->inclusive_after_errors, b->arena);
}

/* Replace short-lived blocks by temporary blocks, which both sides have. Called if a side lacks
 * lifetimes. */
static void
clear_lifetimes(struct diff *d)
{
    counters_clear_lifetimes(&d->before);
    counters_clear_lifetimes(&d->after);
    for (size_t i = 0; i < d->count; i++) {
        counters_clear_lifetimes(&d->rows[i].before);
        counters_clear_lifetimes(&d->rows[i].after);
        counters_clear_lifetimes(&d->rows[i].inclusive_before);
        counters_clear_lifetimes(&d->rows[i].inclusive_after);
    }
}

void
diff_build(const struct diff_side *before, const struct diff_side *after, enum diff_by by,
           enum metric metric, struct arena *arena, struct diff *ret)
{
    struct builder b = {.arena = arena, .by = by, .metric = metric, .ret = ret};
    const char *root;

    *ret = (struct diff){
        .before = before->stacks->total,
        .after = after->stacks->total,
        .before_errors = before->stacks->errors,
        .after_errors = after->stacks->errors,
        .is_estimate = profile_has_errors(before->p) || profile_has_errors(after->p),
    };
    ret->truncated = stacks_truncated(after->p, after->stacks, &ret->after_truncated);
    root = stacks_truncated(before->p, before->stacks, &ret->before_truncated);
    if (ret->truncated == NULL)
        ret->truncated = root;
    diff_files_match(before->p, after->p, &b.files);
    diff_add_side(&b, before, false);
    diff_add_side(&b, after, true);
    for (size_t i = 0; i < ret->count; i++)
        add_missed_of_sides(&b, &ret->rows[i], before, after);
    if (before->p->totals.lifetimes_unknown || after->p->totals.lifetimes_unknown)
        clear_lifetimes(ret);
    diff_sort_rows(&b);
    map_release(&b.children);
    map_release(&b.rows_by_node);
    strtab_release(&b.keys);
    strtab_release(&b.tags);
    strbuf_release(&b.key);
    diff_files_release(&b.files);
    ENSURE_VALID(diff_is_valid(ret, metric));
}

int64_t
diff_growth(const struct counters *before, const struct counters *after, enum metric metric)
{
    return counters_difference(metric_value(after, metric), metric_value(before, metric));
}

struct interval
diff_interval(const struct counters *before, const struct errors *before_errors,
              const struct counters *after, const struct errors *after_errors, enum metric metric)
{
    return interval_of_growth((double)metric_value(before, metric),
                              interval_of_metric(before, before_errors, metric),
                              (double)metric_value(after, metric),
                              interval_of_metric(after, after_errors, metric));
}

bool
diff_is_noise(const struct diff_row *row, enum metric metric, bool inclusive)
{
    struct interval i =
        inclusive ? diff_interval(&row->inclusive_before, row->inclusive_before_errors,
                                  &row->inclusive_after, row->inclusive_after_errors, metric)
                  : diff_interval(&row->before, row->before_errors, &row->after,
                                  row->after_errors, metric);

    return i.low < i.high && i.low <= 0 && i.high >= 0;
}

bool
diff_changed(const struct diff_row *row)
{
    for (int m = 0; m <= METRIC_COUNT; m++)
        if (diff_growth(&row->before, &row->after, (enum metric)m) != 0 ||
            diff_growth(&row->inclusive_before, &row->inclusive_after, (enum metric)m) != 0)
            return true;
    return false;
}

/* Return the entry of F. FILE is the name that both sides use for F's file. */
static uint32_t
entry_for(struct builder *b, const struct diff_frame *f, const char *file)
{
    size_t i;

    strbuf_clear(&b->key);
    strbuf_fmt(&b->key, "%d%s\n%s", b->by == DIFF_BY_SITE && f->inlined, file, f->function);
    i = strtab_id(&b->keys, strbuf_text(&b->key)) - 1; // No key is empty, so no id is 0.
    if (i == b->entry_count) {
        arena_grow(b->arena, &b->entries, &b->entry_capacity, i, sizeof *b->entries);
        b->entries[b->entry_count++] =
            (struct entry){.frame = {.function = arena_strdup(b->arena, f->function),
                                     .file = arena_strdup(b->arena, f->file),
                                     .module = arena_strdup(b->arena, f->module),
                                     .inlined = b->by == DIFF_BY_SITE && f->inlined}};
    }
    return (uint32_t)i;
}

/* Set *AT to a copy of TEXT, unless their texts are equal. */
static void
replace_text(struct arena *arena, const char **at, const char *text)
{
    if (strcmp(*at, text) != 0)
        *at = arena_strdup(arena, text);
}

/* Return the number of frames of S with its root (stack_root), if it has one. */
static uint32_t
diff_depth(const struct profile *p, const struct stack *s)
{
    return s->depth + (stack_root(p, s) != NULL);
}

/* Return the entry of frame I of S, and its line in *RET_LINE. Resolves a named frame once, however
 * many stacks share it. Frames without a name differ by location. */
static uint32_t
read_frame(struct builder *b, const struct profile *p, const struct stack *s, uint32_t i,
           bool is_after, uint32_t *ret_line)
{
    const struct profile_frame *f;
    const char *file;
    uint32_t entry;

    *ret_line = 0;
    if (i >= s->depth) // As for "other", which has no frames, for the root of a truncated stack.
        return entry_for(
            b, &(struct diff_frame){.function = stack_root(p, s), .file = "", .module = ""}, "");
    f = &p->frames[s->frames[i]];
    *ret_line = f->line;
    if (b->known[s->frames[i]] != 0)
        return b->known[s->frames[i]] - 1;
    file = profile_string(p, f->file);
    entry = entry_for(b,
                      &(struct diff_frame){
                          .function = frame_name(p, s->frames[i], s->locations[i], b->arena),
                          .file = file,
                          .module = p->modules[f->module].path,
                          .inlined = f->inlined,
                      },
                      is_after ? diff_files_key(&b->files, file) : file);
    if (is_after) { // Lines and paths are shown as in AFTER.
        replace_text(b->arena, &b->entries[entry].frame.file, file);
        replace_text(b->arena, &b->entries[entry].frame.module, p->modules[f->module].path);
    }
    if (f->function != 0)
        b->known[s->frames[i]] = entry + 1;
    return entry;
}

static uint32_t
diff_new_row(struct builder *b, uint32_t depth)
{
    size_t i = b->ret->count++;

    arena_grow(b->arena, &b->ret->rows, &b->row_capacity, i, sizeof *b->ret->rows);
    b->ret->rows[i] = (struct diff_row){
        .frames = arena_array(b->arena, depth, sizeof *b->ret->rows[i].frames),
        .depth = depth,
        .useful_depth = depth,
        .before = COUNTERS_ZERO,
        .after = COUNTERS_ZERO,
        .inclusive_before = COUNTERS_ZERO,
        .inclusive_after = COUNTERS_ZERO,
    };
    return (uint32_t)i;
}

static void
count_row(struct builder *b, uint32_t index, const struct stacks *stacks, const struct stack *s,
          bool is_after, bool innermost, uint32_t frame)
{
    struct diff_row *row = &b->ret->rows[index];

    if (innermost) {
        counters_add(is_after ? &row->after : &row->before, &s->counters);
        stack_errors_add(is_after ? &row->after_errors : &row->before_errors, stacks, s, frame,
                         b->arena);
    }
    counters_add(is_after ? &row->inclusive_after : &row->inclusive_before, &s->counters);
    stack_errors_add(is_after ? &row->inclusive_after_errors : &row->inclusive_before_errors,
                     stacks, s, frame, b->arena);
    row->in_before |= !is_after;
    row->in_after |= is_after;
}

static uint64_t
diff_child_of(struct builder *b, uint64_t node, uint32_t edge)
{
    bool new;
    uint64_t *child = map_put(&b->children, node << 32 | edge, &new);

    if (new)
        *child = b->children.count;
    return *child;
}

/* Charge S to its row, and create the row if it is new. ENTRIES and LINES describe its frames. */
static void
add_by_site(struct builder *b, const struct diff_side *side, const struct stack *s,
            const uint32_t *entries, const uint32_t *lines, uint32_t depth, bool is_after)
{
    const struct profile *p = side->p;
    uint32_t set = s->labels == STACK_LABELS_SEVERAL ? 0 : s->labels;
    const struct profile_heap *heap = &p->heaps[s->heap];
    const struct profile_label_set *labels = &p->label_sets[set];
    uint64_t node = 0, *row;
    struct diff_frame *frames;
    bool new, seen;

    for (uint32_t i = depth; i-- > 0;)
        node = diff_child_of(b, node, entries[i]);
    node = diff_child_of(b, node, strtab_id(&b->tags, heap->name));
    node = diff_child_of(b, node, strtab_id(&b->tags, labels->text));
    row = map_put(&b->rows_by_node, node, &new);
    if (new) {
        *row = diff_new_row(b, depth);
        b->ret->rows[*row].useful_depth = depth > s->depth ? depth : stack_useful_depth(p, s);
        b->ret->rows[*row].heap = heap;
        b->ret->rows[*row].labels = labels;
    }
    frames = b->ret->rows[*row].frames;
    seen = is_after ? b->ret->rows[*row].in_after : b->ret->rows[*row].in_before;
    for (uint32_t i = 0; i < depth; i++) {
        uint32_t line = seen ? frames[i].line : lines[i];
        bool several = seen && (frames[i].several_lines || line != lines[i]);

        frames[i] = b->entries[entries[i]].frame;
        frames[i].line = line;
        frames[i].several_lines = several;
    }
    count_row(b, (uint32_t)*row, side->stacks, s, is_after, true, s->depth);
}

static void
add_by_function(struct builder *b, const struct stacks *stacks, const struct stack *s,
                const uint32_t *entries, uint32_t depth, bool is_after)
{
    for (uint32_t i = 0; i < depth; i++) {
        struct entry *e = &b->entries[entries[i]];

        if (e->seen == b->stack_number)
            continue;
        e->seen = b->stack_number;
        if (e->row == 0) {
            e->row = diff_new_row(b, 1) + 1;
        }
        b->ret->rows[e->row - 1].frames[0] = e->frame;
        count_row(b, e->row - 1, stacks, s, is_after, i == 0, i);
    }
}

static void
diff_add_stack(struct builder *b, const struct diff_side *side, const struct stack *s,
               bool is_after)
{
    uint32_t depth = diff_depth(side->p, s);
    uint32_t *entries = xmalloc((size_t)2 * depth * sizeof *entries), *lines = entries + depth;

    b->stack_number++;
    for (uint32_t i = 0; i < depth; i++)
        entries[i] = read_frame(b, side->p, s, i, is_after, &lines[i]);
    if (b->by == DIFF_BY_SITE)
        add_by_site(b, side, s, entries, lines, depth, is_after);
    else
        add_by_function(b, side->stacks, s, entries, depth, is_after);
    free(entries);
}

/* A row with its sort keys. */
struct ranked {
    uint64_t own, inclusive; // Absolute changes of the self and inclusive values.
    struct diff_row row;
};

static uint64_t
size_of_change(const struct counters *before, const struct counters *after, enum metric metric)
{
    int64_t growth = diff_growth(before, after, metric);

    return growth < 0 ? 0 - (uint64_t)growth : (uint64_t)growth;
}

static int
compare_names(const struct diff_row *a, const struct diff_row *b)
{
    int order = 0;

    for (uint32_t i = 0; order == 0 && i < a->depth && i < b->depth; i++) {
        order = strcmp(a->frames[i].function, b->frames[i].function);
        if (order == 0)
            order = strcmp(a->frames[i].file, b->frames[i].file);
    }
    if (order == 0 && a->heap && b->heap)
        order = strcmp(a->heap->name, b->heap->name);
    if (order == 0 && a->labels && b->labels)
        order = strcmp(a->labels->text, b->labels->text);
    return order ? order : a->depth < b->depth ? -1 : a->depth > b->depth;
}

static int
diff_compare_ranked(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;

    if (a->own != b->own)
        return a->own > b->own ? -1 : 1;
    if (a->inclusive != b->inclusive)
        return a->inclusive > b->inclusive ? -1 : 1;
    return compare_names(&a->row, &b->row);
}

static void
diff_sort_rows(struct builder *b)
{
    struct ranked *ranked = xmalloc(b->ret->count * sizeof *ranked);

    for (size_t i = 0; i < b->ret->count; i++) {
        const struct diff_row *r = &b->ret->rows[i];

        ranked[i] = (struct ranked){
            size_of_change(&r->before, &r->after, b->metric),
            size_of_change(&r->inclusive_before, &r->inclusive_after, b->metric), *r};
    }
    qsort(ranked, b->ret->count, sizeof *ranked, diff_compare_ranked);
    for (size_t i = 0; i < b->ret->count; i++)
        b->ret->rows[i] = ranked[i].row;
    free(ranked);
}

bool
diff_is_valid(const struct diff *d, enum metric metric)
{
    struct counters before = COUNTERS_ZERO, after = COUNTERS_ZERO;
    uint64_t last = UINT64_MAX;

    for (size_t i = 0; i < d->count; i++) {
        const struct diff_row *r = &d->rows[i];
        int64_t growth = diff_growth(&r->before, &r->after, metric);
        uint64_t change = growth < 0 ? 0 - (uint64_t)growth : (uint64_t)growth;

        VALID(r->depth >= 1);  // A row has at least one name.
        VALID(r->useful_depth >= 1 && r->useful_depth <= r->depth);
        VALID(change <= last); // The largest change comes first.
        last = change;
        counters_add(&before, &r->before);
        counters_add(&after, &r->after);
    }
    VALID(counters_are_same(&before, &d->before)); // Each stack of BEFORE is in one row.
    VALID(counters_are_same(&after, &d->after));   // Each stack of AFTER is in one row.
    return true;
}
