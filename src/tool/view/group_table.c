/* group_table.c: tables by function, line, file, module, thread, size, type, heap and labels.
 *
 * Text and JSON use the same table. Its first columns are for people (the metric, its share, the
 * inclusive value, a name). The others have a key and no title, and appear only in JSON: all
 * counters, exactly, and the identity of the row. */
#include "view/table.h"

#include <inttypes.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "analyse/interval.h"
#include "symbol/symbol.h"
#include "util/strbuf.h"
#include "view/phrases.h"
#include "view/view.h"

enum { TYPES_NAMED = 6 }; // Maximum number of types named for blocks with several candidates.

/* Maximum width of the name of a line, in columns. The function is shown beside it. */
enum { LINE_COLUMNS = 20 };

static const char *
size_text(struct arena *a, uint64_t min, uint64_t max)
{
    if (min == max)
        return phrase_size(a, min);
    if (max == UINT64_MAX)
        return arena_printf(a, "%s and more", phrase_size(a, min));
    return arena_printf(a, "%s to %s", phrase_size(a, min), phrase_size(a, max));
}

static const char *
fit_function(struct arena *arena, const char *text, size_t width)
{
    return symbol_shorten(arena, text, width);
}

static const char *
fit_path(struct arena *arena, const char *text, size_t width)
{
    return style_cut_start(arena, text, width);
}

/* Add a JSON column for each counter, with PREFIX "" or "self_". Return the new number of
 * columns. */
static size_t
add_counter_columns(struct column *columns, size_t n, const char *const keys[], size_t key_count)
{
    for (size_t i = 0; i < key_count; i++)
        columns[n++] = (struct column){.kind = COLUMN_COUNT, .key = keys[i]};
    return n;
}

static void
add_counter_cells(struct table *t, const struct counters *c)
{
    table_number(t, c->allocations);
    table_number(t, c->allocated_bytes);
    table_number(t, c->frees);
    table_number(t, c->freed_bytes);
    table_number(t, counters_live_blocks(c));
    table_number(t, counters_live_bytes(c));
    table_number(t, c->partial ? TABLE_UNKNOWN : c->peak_blocks);
    table_number(t, c->partial ? TABLE_UNKNOWN : c->peak_bytes);
    table_number(t, c->partial ? TABLE_UNKNOWN : c->temporary);
    table_number(t, c->lifetimes_unknown ? TABLE_UNKNOWN : counters_within_16(c));
    table_number(t, c->lifetimes_unknown ? TABLE_UNKNOWN : counters_within_256(c));
    table_number(t, c->partial ? TABLE_UNKNOWN : c->reallocations);
}

static const char *const inclusive_keys[] = {
    "allocations",     "allocated_bytes", "frees",      "freed_bytes", "live_blocks",
    "live_bytes",      "peak_blocks",     "peak_bytes", "temporary",   "died_within_16",
    "died_within_256", "reallocations",
};
static const char *const self_keys[] = {
    "self_allocations", "self_allocated_bytes", "self_frees",       "self_freed_bytes",
    "self_live_blocks", "self_live_bytes",      "self_peak_blocks", "self_peak_bytes",
    "self_temporary",   "self_died_within_16",  "self_died_within_256",
    "self_reallocations",
};

#define ERROR_KEYS(prefix)                                                                         \
    prefix "samples", prefix "allocations_low", prefix "allocations_high",                         \
        prefix "allocated_bytes_low", prefix "allocated_bytes_high", prefix "live_blocks_low",     \
        prefix "live_blocks_high", prefix "live_bytes_low", prefix "live_bytes_high",              \
        prefix "peak_blocks_low", prefix "peak_blocks_high", prefix "peak_bytes_low",              \
        prefix "peak_bytes_high"

static const char *const inclusive_error_keys[] = {ERROR_KEYS("")};
static const char *const self_error_keys[] = {ERROR_KEYS("self_")};

/* Add a cell for each of the error keys, in the same order. */
static void
add_error_cells(struct table *t, const struct counters *c, const struct errors *e)
{
    static const enum interval_of of[] = {INTERVAL_ALLOCATIONS, INTERVAL_ALLOCATED_BYTES,
                                          INTERVAL_LIVE_BLOCKS, INTERVAL_LIVE_BYTES,
                                          INTERVAL_PEAK_BLOCKS, INTERVAL_PEAK_BYTES};

    table_number(t, interval_rounded(errors_or_none(e)->allocated.samples));
    for (size_t i = 0; i < countof(of); i++) {
        struct interval r = interval_of(c, e, of[i]);

        table_number(t, interval_rounded(r.low));
        table_number(t, interval_rounded(r.high));
    }
}

static bool
has_callees(enum group_by by)
{
    return by == BY_FUNCTION || by == BY_LINE || by == BY_FILE || by == BY_MODULE;
}

/* Errors by thread and by size are not known. */
bool
group_table_has_errors(const struct view *v, enum group_by by)
{
    return profile_has_errors(v->p) && by != BY_THREAD && by != BY_SIZE;
}

/* Return true if some rows are estimates with unknown errors, and marked as such. */
static bool
group_table_has_unbounded(const struct view *v, enum group_by by)
{
    return profile_has_unbounded(v->p) && by != BY_THREAD && by != BY_SIZE;
}

/* Return the function that shortens the name of a row. */
static text_fit_fn *
identity_fit(enum group_by by)
{
    switch (by) {
    case BY_FUNCTION:
    case BY_SITE:
    case BY_TYPE:
        return fit_function;
    case BY_HEAP:
    case BY_LABEL:
    case BY_LABEL_VALUE:
        return NULL;
    default:
        return fit_path;
    }
}

/* Return the title of the column after the names; NULL if there is none. */
static const char *
place_title(const struct groups *groups, enum group_by by)
{
    bool others = false;

    for (size_t i = 0; by == BY_THREAD && i < groups->count; i++)
        others |= groups->v[i].share->for_others_blocks > 0;
    return by == BY_FUNCTION ? "where"
           : by == BY_HEAP   ? "how full"
           : others          ? "freed for others"
                             : NULL;
}

static size_t
group_columns(const struct view *v, const struct groups *groups, enum group_by by,
              enum metric metric, struct column *c)
{
    enum column_kind kind = metric_is_bytes(metric) ? COLUMN_BYTES : COLUMN_COUNT;
    const char *title = phrase_metric_column(v->p, metric);
    const char *const names[] = {"function", "function", "line", "file",   "module", "thread",
                                 "size",     "type",     "heap", "labels", v->label};
    bool both = has_callees(by), errors = group_table_has_errors(v, by);
    bool unbounded = group_table_has_unbounded(v, by), marks = errors || unbounded;
    const char *inclusive = both ? "inclusive" : NULL;
    struct counters truncated;
    size_t n = 0;

    if (both && stacks_truncated(v->p, v->stacks, &truncated))
        inclusive = "inclusive \xe2\x89\xa5"; // A lower bound.

    c[n++] = (struct column){.kind = kind, .title = title};
    c[n++] = (struct column){.kind = COLUMN_TEXT, .title = marks ? "error" : NULL, .dim = true};
    c[n++] = (struct column){.kind = COLUMN_PERCENT, .title = "%"};
    c[n++] = (struct column){.kind = kind, .title = inclusive, .dim = true};
    // Samples make both numbers uncertain alike, sampled callers only this one.
    c[n++] = (struct column){.kind = COLUMN_TEXT,
                             .title = both && marks && v->p->has_shares ? "error" : NULL,
                             .dim = true};
    c[n++] = (struct column){
        .kind = COLUMN_COUNT, .title = metric == METRIC_COUNT ? NULL : "calls", .dim = true};
    if (by == BY_TYPE)
        c[n++] = (struct column){.kind = COLUMN_TEXT, .title = "verdict", .dim = true};
    c[n++] = (struct column){.kind = COLUMN_TEXT, .title = names[by], .fit = identity_fit(by)};
    if (by == BY_LINE)
        c[n++] = (struct column){.kind = COLUMN_TEXT, .title = "function", .fit = fit_function};
    else if (by != BY_TYPE)
        c[n++] = (struct column){.kind = COLUMN_TEXT,
                                 .title = place_title(groups, by),
                                 .dim = true,
                                 .fit = by == BY_HEAP || by == BY_THREAD ? NULL : fit_path};
    n = add_counter_columns(c, n, inclusive_keys, countof(inclusive_keys));
    if (errors)
        n = add_counter_columns(c, n, inclusive_error_keys, countof(inclusive_error_keys));
    if (unbounded)
        c[n++] = (struct column){.kind = COLUMN_FLAG, .key = "estimated"};
    if (both)
        n = add_counter_columns(c, n, self_keys, countof(self_keys));
    if (both && errors)
        n = add_counter_columns(c, n, self_error_keys, countof(self_error_keys));
    if (both && unbounded)
        c[n++] = (struct column){.kind = COLUMN_FLAG, .key = "self_estimated"};
    return n;
}

/* Add the columns that identify a row in JSON. Return the new number of columns. */
static size_t
identity_columns(enum group_by by, struct column *c, size_t n)
{
    static const struct column site[] = {{.kind = COLUMN_TEXT, .key = "function"},
                                         {.kind = COLUMN_TEXT, .key = "module"}};
    static const struct column function[] = {{.kind = COLUMN_TEXT, .key = "function"},
                                             {.kind = COLUMN_TEXT, .key = "module"},
                                             {.kind = COLUMN_TEXT, .key = "file"}};
    static const struct column line[] = {{.kind = COLUMN_TEXT, .key = "file"},
                                         {.kind = COLUMN_COUNT, .key = "line"},
                                         {.kind = COLUMN_TEXT, .key = "function"},
                                         {.kind = COLUMN_COUNT, .key = "functions"}};
    static const struct column thread[] = {{.kind = COLUMN_TEXT, .key = "thread"},
                                           {.kind = COLUMN_COUNT, .key = "tid"},
                                           {.kind = COLUMN_COUNT, .key = "frees_for_others"},
                                           {.kind = COLUMN_COUNT, .key = "freed_bytes_for_others"}};
    static const struct column size[] = {{.kind = COLUMN_COUNT, .key = "size_min"},
                                         {.kind = COLUMN_COUNT, .key = "size_max"}};
    static const struct column type[] = {{.kind = COLUMN_TEXT, .key = "type"},
                                         {.kind = COLUMN_TEXT, .key = "verdict"},
                                         {.kind = COLUMN_COUNT, .key = "size_min"},
                                         {.kind = COLUMN_COUNT, .key = "size_max"}};
    static const struct column heap[] = {{.kind = COLUMN_TEXT, .key = "heap"},
                                         {.kind = COLUMN_COUNT, .key = "made"},
                                         {.kind = COLUMN_COUNT, .key = "destroyed"},
                                         {.kind = COLUMN_COUNT, .key = "resets"},
                                         {.kind = COLUMN_COUNT, .key = "backing_live_blocks"},
                                         {.kind = COLUMN_COUNT, .key = "backing_live_bytes"},
                                         {.kind = COLUMN_COUNT, .key = "backing_peak_bytes"}};
    static const struct column labels[] = {{.kind = COLUMN_TEXT, .key = "labels"}};
    static const struct column value[] = {{.kind = COLUMN_TEXT, .key = "label"},
                                          {.kind = COLUMN_TEXT, .key = "value"}};
    static const struct column module[] = {{.kind = COLUMN_TEXT, .key = "module"}};
    static const struct column file[] = {{.kind = COLUMN_TEXT, .key = "file"}};
    static const struct {
        const struct column *v;
        size_t count;
    } identities[] = {
        [BY_SITE] = {site, 2},     [BY_FUNCTION] = {function, 3}, [BY_LINE] = {line, 4},
        [BY_FILE] = {file, 1},     [BY_MODULE] = {module, 1},     [BY_THREAD] = {thread, 4},
        [BY_SIZE] = {size, 2},     [BY_TYPE] = {type, 4},         [BY_HEAP] = {heap, 7},
        [BY_LABEL] = {labels, 1},  [BY_LABEL_VALUE] = {value, 2},
    };

    for (size_t i = 0; i < identities[by].count; i++)
        c[n++] = identities[by].v[i];
    return n;
}

static const char *
group_table_known(const char *text)
{
    return text && *text ? text : NULL;
}

static const char *const verdict_names[] = {
    [VERDICT_UNKNOWN] = "unknown",
    [VERDICT_SAME_SIZE] = "same size",
    [VERDICT_LIKELY] = "likely",
    [VERDICT_CERTAIN] = "certain",
};

static void
heap_cells(const struct profile_heap *heap, bool whole, struct table *t)
{
    table_string(t, heap->name);
    table_number(t, (int64_t)heap->made);
    table_number(t, (int64_t)heap->destroyed);
    table_number(t, (int64_t)heap->resets);
    table_number(t, whole ? counters_live_blocks(&heap->backing) : TABLE_UNKNOWN);
    table_number(t, whole ? counters_live_bytes(&heap->backing) : TABLE_UNKNOWN);
    table_number(t, whole ? heap->backing.peak_bytes : TABLE_UNKNOWN);
}

/* Add cells for the sizes of a type's blocks. They are unknown in a profile that is cut to a
 * time. */
static void
type_size_cells(const struct counters *c, struct table *t)
{
    bool any = c->size_min != SIZE_MIN_NONE;

    table_number(t, c->partial ? TABLE_UNKNOWN : any ? (int64_t)c->size_min : 0);
    table_number(t, c->partial ? TABLE_UNKNOWN : (int64_t)c->size_max);
}

static void
identity_cells(const struct view *v, enum group_by by, const struct group_row *r, struct table *t)
{
    const struct profile_frame *f = r->frame == GROUP_NO_FRAME ? NULL : &v->p->frames[r->frame];
    const char *module = f ? group_table_known(profile_code_of(v->p, f)) : NULL;

    switch (by) {
    case BY_SITE:
    case BY_FUNCTION:
        table_string(t, f ? frame_name(v->p, r->frame, r->location, v->arena) : "other");
        table_string(t, module);
        if (by == BY_FUNCTION)
            table_string(t, f ? group_table_known(profile_string(v->p, f->file)) : NULL);
        break;
    case BY_LINE:
        table_string(t, f ? group_table_known(profile_string(v->p, f->file)) : NULL);
        table_number(t, f ? f->line : 0);
        table_string(t, f ? frame_name(v->p, r->frame, r->location, v->arena) : "other");
        table_number(t, f ? r->names : 0);
        break;
    case BY_FILE:
        table_string(t, f ? group_table_known(profile_string(v->p, f->file)) : NULL);
        break;
    case BY_MODULE:
        table_string(t, module);
        break;
    case BY_THREAD:
        table_string(t, r->thread->name);
        table_number(t, r->thread->tid);
        table_number(t, r->share->for_others_blocks < 0 ? TABLE_UNKNOWN
                                                        : r->share->for_others_blocks);
        table_number(t, r->share->for_others_bytes < 0 ? TABLE_UNKNOWN
                                                       : r->share->for_others_bytes);
        break;
    case BY_SIZE:
        table_number(t, (int64_t)r->bin->size_min);
        table_number(t, (int64_t)r->bin->size_max);
        break;
    case BY_TYPE:
        table_string(t, group_table_known(profile_string(v->p, r->site->type)));
        table_string(t, verdict_names[r->site->verdict]);
        type_size_cells(&r->self, t);
        break;
    case BY_HEAP:
        heap_cells(r->heap, v->p->extent == EXTENT_WHOLE, t);
        break;
    case BY_LABEL_VALUE:
        table_string(t, v->label);
        table_string(t, r->labels);
        break;
    case BY_LABEL:
        table_string(t, r->labels);
        break;
    }
}

/* Return the type of SITE's blocks, or the candidates. */
static const char *
group_table_type_name(const struct view *v, const struct profile_site *site)
{
    const struct profile *p = v->p;
    uint64_t size = profile_site_size_min(site);
    struct strbuf text = {0};
    const char *copy;
    size_t count = 0;

    if (site->type != 0)
        return profile_string(p, site->type);
    if (site->verdict != VERDICT_SAME_SIZE)
        return "?";
    for (size_t i = 0; i < p->type_count; i++) {
        if (p->types[i].size != size)
            continue;
        if (count++ < TYPES_NAMED)
            strbuf_fmt(&text, "%s%s", count > 1 ? ", " : "", profile_string(p, p->types[i].name));
    }
    if (count > TYPES_NAMED)
        strbuf_fmt(&text, " and %zu more", count - TYPES_NAMED);
    copy = arena_printf(v->arena, "one of %zu of %s: %s", count, phrase_size(v->arena, size),
                        strbuf_text(&text));
    strbuf_release(&text);
    return copy;
}

/* Return the name of a row by line: the line, without its directory unless FULL, or the module. */
static const char *
line_name(const struct view *v, uint32_t frame, bool full)
{
    const char *place = phrase_place(v->p, frame, full, v->arena);

    return full ? place : style_cut_start(v->arena, path_basename(place), LINE_COLUMNS);
}

/* Return the thread's name. Programs seldom name all threads, so an ambiguous name is followed by
 * the id or the number of threads. */
static const char *
thread_text(const struct view *v, const struct profile_thread *thread)
{
    const struct profile *p = v->p;

    if (thread->uses > 1)
        return arena_printf(v->arena, "%s (%" PRIu32 " threads)", thread->name, thread->uses);
    for (size_t i = 0; i < p->thread_count; i++)
        if (&p->threads[i] != thread && strcmp(p->threads[i].name, thread->name) == 0)
            return arena_printf(v->arena, "%s (%" PRIu32 ")", thread->name, thread->tid);
    return thread->name;
}

/* Return the name of a row in text. */
static const char *
row_name(const struct view *v, enum group_by by, const struct group_row *r, bool full)
{
    const struct profile *p = v->p;
    const char *file;

    if (by == BY_THREAD)
        return thread_text(v, r->thread);
    if (by == BY_SIZE)
        return size_text(v->arena, r->bin->size_min, r->bin->size_max);
    if (by == BY_TYPE)
        return group_table_type_name(v, r->site);
    if (by == BY_HEAP)
        return r->heap->name;
    if (by == BY_LABEL)
        return *r->labels ? r->labels : "without labels";
    if (by == BY_LABEL_VALUE)
        return r->labels ? r->labels : arena_printf(v->arena, "without %s", v->label);
    if (r->frame == GROUP_NO_FRAME)
        return "other";
    file = profile_string(p, p->frames[r->frame].file);
    switch (by) {
    case BY_LINE:
        if (*file == '\0' && p->locations[r->location].function_start != 0)
            return frame_place(p, r->location, v->arena);
        return line_name(v, r->frame, full);
    case BY_FILE:
        return *file ? file
                     : arena_printf(v->arena, "? (%s)",
                                    path_basename(profile_code_of(p, &p->frames[r->frame])));
    case BY_MODULE:
        return group_table_known(profile_code_of(p, &p->frames[r->frame]));
    default:
        return frame_name(p, r->frame, r->location, v->arena);
    }
}

/* Return the largest function on the line of R, and the number of the others. */
static const char *
line_functions(const struct view *v, const struct group_row *r)
{
    const char *name = frame_name(v->p, r->frame, r->location, v->arena);

    if (r->names < 2)
        return name;
    return arena_printf(v->arena, "%s and %s", name,
                        style_plural(v->arena, r->names - 1, "more function"));
}

static const char *
path_of_row(const struct view *v, const struct group_row *r)
{
    const struct profile_frame *f = &v->p->frames[r->frame];

    return f->file ? profile_string(v->p, f->file) : v->p->modules[f->module].path;
}

/* Return the text beside the name. By line it is the function; by function it is the file, without
 * a line because there are several, or the module. TAIL is the result of path_tails for R. */
static const char *
row_place(const struct view *v, enum group_by by, const struct group_row *r, const char *tail,
          bool full)
{
    const char *path = path_of_row(v, r);

    if (by == BY_LINE)
        return line_functions(v, r);
    if (!full)
        return *tail != '\0' ? tail : path_basename(path);
    // Rows of one name and file also have the module behind the tail.
    return *tail != '\0' && strstr(path, tail) == NULL
               ? arena_printf(v->arena, "%s%s", path, strrchr(tail, ','))
               : path;
}

/* Return the texts that distinguish rows of one name; by function only. */
static const char **
row_tails(const struct view *v, const struct groups *groups, enum group_by by)
{
    struct path_owner *owners = arena_array(v->arena, groups->count, sizeof *owners);

    for (size_t i = 0; i < groups->count; i++) {
        const struct group_row *r = &groups->v[i];
        bool shown = by == BY_FUNCTION && r->frame != GROUP_NO_FRAME;

        owners[i] = shown ? (struct path_owner){frame_name(v->p, r->frame, r->location, v->arena),
                                                path_of_row(v, r),
                                                path_basename(profile_code_of(
                                                    v->p, &v->p->frames[r->frame]))}
                          : (struct path_owner){"", "", ""};
    }
    return path_tails(v->arena, owners, groups->count);
}

/* Return the used share of HEAP, if known, and the numbers of heaps made and of resets; "" for
 * malloc. */
static const char *
group_table_heap_place(const struct view *v, const struct profile_heap *heap, enum metric metric)
{
    const char *full = backing_fullness(v, heap, metric);

    if (heap == &v->p->heaps[0])
        return "";
    return arena_printf(v->arena, "%s%s%" PRIu64 " made, %s", full, *full ? "; " : "", heap->made,
                        style_plural(v->arena, (int64_t)heap->resets, "reset"));
}

/* Return a lower bound of a thread's frees of other threads' blocks. */
static const char *
thread_place(const struct view *v, const struct thread_share *share)
{
    if (share->for_others_blocks <= 0)
        return "";
    return arena_printf(v->arena, "%s in %s", style_bytes(v->arena, share->for_others_bytes),
                        style_plural(v->arena, share->for_others_blocks, "block"));
}

/* Return the value that is 100 % in a grouping. By size it is the total of all blocks, because
 * sizes are not known by stack. */
static int64_t
group_whole(const struct view *v, enum group_by by, enum metric metric)
{
    struct counters sizes;

    if (by != BY_SIZE)
        return metric_value(&v->stacks->total, metric);
    sizes = group_all_sizes(v->p);
    return metric_value(&sizes, metric);
}

/* Return the text beside the name of R. TAIL is the result of row_tails for R. */
static const char *
group_table_place_of(const struct view *v, enum group_by by, enum metric metric,
                     const struct group_row *r, const char *tail, bool full)
{
    return r->frame != GROUP_NO_FRAME ? row_place(v, by, r, tail, full)
           : by == BY_HEAP            ? group_table_heap_place(v, r->heap, metric)
           : by == BY_THREAD          ? thread_place(v, r->share)
                                      : "";
}

struct group_names
group_table_names(const struct view *v, const struct groups *groups, enum group_by by)
{
    struct group_names ret = {arena_array(v->arena, groups->count, sizeof *ret.names),
                              arena_array(v->arena, groups->count, sizeof *ret.places)};
    const char **tails = row_tails(v, groups, by);

    for (size_t i = 0; i < groups->count; i++) {
        ret.names[i] = row_name(v, by, &groups->v[i], false);
        ret.places[i] = by == BY_TYPE ? verdict_names[groups->v[i].site->verdict]
                                      : group_table_place_of(v, by, METRIC_INUSE, &groups->v[i],
                                                             tails[i], false);
        if (ret.names[i] == NULL)
            ret.names[i] = "?";
    }
    return ret;
}

void
group_table_fill(const struct view *v, const struct groups *groups, enum group_by by,
                 enum metric metric, bool full, struct table *ret)
{
    struct column columns[TABLE_COLUMNS_MAX];
    bool errors = group_table_has_errors(v, by), unbounded = group_table_has_unbounded(v, by);
    bool marks = errors || unbounded;
    size_t n = group_columns(v, groups, by, metric, columns);
    const char **tails;

    n = identity_columns(by, columns, n);
    tails = row_tails(v, groups, by);
    table_begin(ret, v->arena, columns, n);
    for (size_t i = 0; i < groups->count; i++) {
        const struct group_row *r = &groups->v[i];

        table_number(ret, metric_value(&r->self, metric));
        table_string(ret, marks ? sampling_mark(v->arena, &r->self, r->self_errors, metric) : "");
        table_percent(ret, metric_value(&r->self, metric), group_whole(v, by, metric));
        table_number(ret, metric_value(&r->inclusive, metric));
        table_string(ret, marks ? sampling_mark(v->arena, &r->inclusive, r->inclusive_errors,
                                                metric)
                                : "");
        table_number(ret, r->self.allocations);
        if (by == BY_TYPE)
            table_string(ret, verdict_names[r->site->verdict]);
        table_string(ret, row_name(v, by, r, full));
        if (by != BY_TYPE)
            table_string(ret, group_table_place_of(v, by, metric, r, tails[i], full));
        add_counter_cells(ret, &r->inclusive);
        if (errors)
            add_error_cells(ret, &r->inclusive, r->inclusive_errors);
        if (unbounded)
            table_flag(ret, errors_or_none(r->inclusive_errors)->unbounded);
        if (has_callees(by))
            add_counter_cells(ret, &r->self);
        if (has_callees(by) && errors)
            add_error_cells(ret, &r->self, r->self_errors);
        if (has_callees(by) && unbounded)
            table_flag(ret, errors_or_none(r->self_errors)->unbounded);
        identity_cells(v, by, r, ret);
    }
}

void
group_table_verdicts(const struct groups *groups, enum metric metric,
                     int64_t ret[VERDICT_CERTAIN + 1])
{
    for (size_t i = 0; i <= VERDICT_CERTAIN; i++)
        ret[i] = 0;
    for (size_t i = 0; i < groups->count; i++) {
        int64_t *sum = &ret[groups->v[i].site->verdict];

        *sum = counters_sum(*sum, metric_value(&groups->v[i].self, metric));
    }
}

void
group_table_rows(const struct view *v, enum group_by by, enum metric metric, struct groups *ret)
{
    group_stacks(v->p, v->stacks, by, v->label, metric, v->arena, ret);
}
