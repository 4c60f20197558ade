/* dhat.c: write DHAT's JSON, version 2, which valgrind's dh_view.html and the Firefox Profiler
 * read.
 *
 *     {
 *       "dhatFileVersion": 2, "mode": "heap", "verb": "Allocated",
 *       "bklt": true,            lifetimes: live blocks over time
 *       "bkacc": false,          accesses: not counted here
 *       "tu": "us", "Mtu": "s",  the unit of time, and a million of it
 *       "tuth": 500,             the limit of short lifetimes; unused without "tl"
 *       "cmd": "prog --test", "pid": 4711,
 *       "te": 5000000,           the end
 *       "tg": 3000000,           t-gmax: the peak
 *       "pps": [                 "program points": stacks
 *         {"tb": 300, "tbk": 3,  bytes and blocks ever allocated,
 *          "mb": 200, "mbk": 2,  largest live amounts at any time,
 *          "gb": 200, "gbk": 2,  live at the peak,
 *          "eb": 200, "ebk": 2,  live at the end
 *          "fs": [1,2,3]}        its frames, innermost first
 *       ],
 *       "ftbl": ["[root]","0x1138: make (a.c:3)", ...]
 *     }
 *
 * Two values of the format are not recorded. The total lifetime of blocks ("tl") is optional and
 * left out. The viewer then shows NaN for the average, where 0 would be wrong. The largest live
 * amount of a stack is mandatory. So "mb" is a lower bound: the larger of the live amounts at the
 * peak and at the end.
 *
 * The viewer stops at a duplicate stack. So stacks of different heaps or labels with equal frames
 * are merged, unless a frame distinguishes them (options.roots). Callers of main and of thread
 * functions are left out, as in DHAT. The format has no comments. A note that values are estimates
 * follows the command, which the viewer shows first. */
#include "interchange/interchange.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "export/exporter.h"
#include "interchange/line_text.h"
#include "util/json_out.h"
#include "util/path.h"

enum { SHORT_LIVED_US = 500, NS_PER_US = 1000 };

/* An entry of ftbl. Its text is made while it is written, because with long names all texts may be
 * much larger than the profile. */
struct text {
    const char *name; // NULL: name of the frame.
    uint32_t frame, location;
};

struct point {
    const uint32_t *frames; // Indices into texts, innermost first.
    uint32_t depth;
    int64_t allocated_bytes, allocations, peak_bytes, peak_blocks, live_bytes, live_blocks;
};

struct writer {
    const struct profile *p;
    const struct tag_roots *roots;
    struct arena *arena;
    struct text *texts; // Index 0 is the viewer's root.
    size_t text_count, text_capacity;
    struct strtab names;  // Names of frames outside the program.
    struct map name_ids;  // By name of a frame outside the program: its index in texts.
    struct strbuf scratch;
    uint32_t *known; // By frame: index of its text; 0 = not yet known.
    struct point *points;
    size_t count;
};

static uint32_t
dhat_add_text(struct writer *w, const char *name, uint32_t frame, uint32_t location)
{
    size_t id = ++w->text_count;

    arena_grow(w->arena, &w->texts, &w->text_capacity, id, sizeof *w->texts);
    w->texts[id] = (struct text){name, frame, location};
    return (uint32_t)id;
}

static uint32_t
dhat_frame_id(struct writer *w, uint32_t frame, uint32_t location)
{
    if (w->known[frame] == 0)
        w->known[frame] = dhat_add_text(w, NULL, frame, location);
    return w->known[frame];
}

static uint32_t
dhat_name_id(struct writer *w, const char *name)
{
    uint32_t string = strtab_id(&w->names, name);
    bool is_new;
    uint64_t *id = map_put(&w->name_ids, string, &is_new);

    if (is_new)
        *id = dhat_add_text(w, strtab_get(&w->names, string), 0, 0);
    return (uint32_t)*id;
}

/* Store the text of T in scratch. */
static void
make_text(struct writer *w, const struct text *t)
{
    const struct profile_frame *f;
    struct strbuf *s = &w->scratch;
    const char *file;

    strbuf_clear(s);
    if (t->name != NULL) {
        line_text(s, t->name);
        return;
    }
    f = &w->p->frames[t->frame]; // If there are no frames, all texts have a name.
    file = profile_string(w->p, f->file);
    strbuf_fmt(s, "0x%" PRIX64 ": ", location_pc(&w->p->locations[t->location]));
    line_text(s, frame_name(w->p, t->frame, t->location, w->arena));
    if (*file != '\0') {
        strbuf_str(s, " (");
        line_text(s, path_basename(file));
        if (f->line != 0)
            strbuf_fmt(s, ":%" PRIu32, f->line);
        strbuf_char(s, ')');
    } else if (f->module != 0) {
        strbuf_str(s, " (in ");
        line_text(s, w->p->modules[f->module].path);
        strbuf_char(s, ')');
    }
}

static int64_t
dhat_not_negative(int64_t value)
{
    return value > 0 ? value : 0;
}

static void
dhat_add_point(struct writer *w, const struct stack *s)
{
    const struct counters *c = &s->counters;
    const char *tag = tags_root(w->p, w->roots, s->heap, s->labels, w->arena);
    const char *root = stack_root(w->p, s);
    uint32_t depth = s->depth > 0 ? stack_useful_depth(w->p, s) : 0, count = 0;
    uint32_t *frames = arena_array(w->arena, (size_t)depth + 2, sizeof *frames);

    for (uint32_t i = 0; i < depth; i++)
        frames[count++] = dhat_frame_id(w, s->frames[i], s->locations[i]);
    if (root != NULL)
        frames[count++] = dhat_name_id(w, root);
    if (tag != NULL)
        frames[count++] = dhat_name_id(w, tag);
    w->points[w->count++] = (struct point){frames,
                                           count,
                                           dhat_not_negative(c->allocated_bytes),
                                           dhat_not_negative(c->allocations),
                                           dhat_not_negative(c->peak_bytes),
                                           dhat_not_negative(c->peak_blocks),
                                           dhat_not_negative(counters_live_bytes(c)),
                                           dhat_not_negative(counters_live_blocks(c))};
}

static int
compare_points(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    uint32_t i = 0;

    while (i < x->depth && i < y->depth && x->frames[i] == y->frames[i])
        i++;
    if (i == x->depth || i == y->depth)
        return x->depth < y->depth ? -1 : x->depth > y->depth;
    return x->frames[i] < y->frames[i] ? -1 : 1;
}

/* Merge the points with equal stacks. */
static void
merge_points(struct writer *w)
{
    size_t kept = 0;

    if (w->count > 0)
        qsort(w->points, w->count, sizeof *w->points, compare_points);
    for (size_t i = 0; i < w->count; i++) {
        struct point *to = kept > 0 ? &w->points[kept - 1] : NULL, *from = &w->points[i];

        if (to == NULL || compare_points(to, from) != 0) {
            w->points[kept++] = *from;
            continue;
        }
        to->allocated_bytes = counters_sum(to->allocated_bytes, from->allocated_bytes);
        to->allocations = counters_sum(to->allocations, from->allocations);
        to->peak_bytes = counters_sum(to->peak_bytes, from->peak_bytes);
        to->peak_blocks = counters_sum(to->peak_blocks, from->peak_blocks);
        to->live_bytes = counters_sum(to->live_bytes, from->live_bytes);
        to->live_blocks = counters_sum(to->live_blocks, from->live_blocks);
    }
    w->count = kept;
}

static void
dhat_write_head(struct writer *w, const struct stacks *stacks, struct json *j)
{
    const struct profile *p = w->p;
    const char *estimate = export_estimate(p, stacks, w->arena);

    strbuf_clear(&w->scratch);
    line_title(&w->scratch, p, w->arena);
    if (*estimate != '\0')
        strbuf_fmt(&w->scratch, " (%s)", estimate);
    json_int(j, "dhatFileVersion", 2);
    json_string(j, "mode", "heap");
    json_string(j, "verb", "Allocated");
    json_bool(j, "bklt", true);
    json_bool(j, "bkacc", false);
    json_string(j, "tu", "us");
    json_string(j, "Mtu", "s");
    json_int(j, "tuth", SHORT_LIVED_US);
    json_string(j, "cmd", strbuf_text(&w->scratch));
    json_int(j, "pid", p->process.pid);
    json_uint(j, "te", p->process.elapsed_ns / NS_PER_US);
    json_uint(j, "tg", p->peak_elapsed_ns / NS_PER_US);
}

static void
write_point(const struct point *point, struct json *j)
{
    bool end = point->live_bytes > point->peak_bytes;

    json_object_line(j, NULL);
    json_int(j, "tb", point->allocated_bytes);
    json_int(j, "tbk", point->allocations);
    json_int(j, "mb", end ? point->live_bytes : point->peak_bytes);
    json_int(j, "mbk", end ? point->live_blocks : point->peak_blocks);
    json_int(j, "gb", point->peak_bytes);
    json_int(j, "gbk", point->peak_blocks);
    json_int(j, "eb", point->live_bytes);
    json_int(j, "ebk", point->live_blocks);
    json_array(j, "fs");
    for (uint32_t i = 0; i < point->depth; i++)
        json_uint(j, NULL, point->frames[i]);
    json_end(j);
    json_end(j);
}

int
export_dhat(const struct profile *p, const struct stacks *stacks,
            const struct export_options *options, struct strbuf *out, struct err *err)
{
    struct arena arena = {0};
    struct writer w = {.p = p, .roots = &options->roots, .arena = &arena};
    struct json j;

    (void)err;
    w.known = arena_array(&arena, p->frame_count, sizeof *w.known);
    w.points = arena_array(&arena, stacks->count, sizeof *w.points);
    for (size_t i = 0; i < stacks->count; i++)
        dhat_add_point(&w, &stacks->v[i]);
    merge_points(&w);
    json_begin(&j, out, JSON_VERSION_TABLES);
    json_object(&j, NULL);
    dhat_write_head(&w, stacks, &j);
    json_array(&j, "pps");
    for (size_t i = 0; i < w.count; i++)
        write_point(&w.points[i], &j);
    json_end(&j);
    json_array(&j, "ftbl");
    json_string(&j, NULL, "[root]");
    for (size_t i = 1; i <= w.text_count; i++) {
        make_text(&w, &w.texts[i]);
        json_string(&j, NULL, strbuf_text(&w.scratch));
        strbuf_pause(out);
    }
    json_end(&j);
    json_end(&j);
    strtab_release(&w.names);
    map_release(&w.name_ids);
    strbuf_release(&w.scratch);
    arena_release(&arena);
    return 0;
}
