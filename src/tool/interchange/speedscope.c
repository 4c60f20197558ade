/* speedscope.c: write the file format of speedscope, a viewer in the browser.
 *
 *     {
 *       "$schema": "https://www.speedscope.app/file-format-schema.json",
 *       "exporter": "heaptap 1.0",
 *       "name": "prog --test (pid 4711)",
 *       "activeProfileIndex": 0,                       the requested metric
 *       "shared": {
 *         "frames": [
 *           {"name": "main", "file": "src/a.c"},       called from there on several lines
 *           {"name": "work", "file": "src/a.c", "line": 11}
 *         ]
 *       },
 *       "profiles": [                                  one for each metric
 *         {
 *           "type": "sampled",
 *           "name": "bytes in use",
 *           "unit": "bytes",                           "none" for counts
 *           "startValue": 0,
 *           "endValue": 250,                           the sum of the weights
 *           "samples": [
 *             [0,1],                                   rows of the frames, outermost first
 *             [0]
 *           ],
 *           "weights": [200,50]                        one for each sample
 *         }, ...
 *       ]
 *     }
 *
 * A stack is a sample in each metric in which it is positive. The viewer refuses negative weights,
 * which occur if memory was freed in a period. The profile's name states the sum of the negative
 * ones, to explain a total that differs from the report's. Zero weights would only enlarge the
 * file.
 *
 * A sample has only its stack. Heaps and labels can be the outermost frame (options.roots). Samples
 * that differ only in heaps, labels or lines are not merged, because the viewer does that where it
 * shows sums.
 *
 * Samples are in the order of a walk through the call tree. The viewer shows them side by side. For
 * each part that neighbours share it makes one box, and one node in memory. In any other order a
 * function has as many boxes as stacks, and a profile of 500,000 nodes crashes the page.
 *
 * The viewer reads values as doubles, so they are exact up to 8 PiB. */
#include "interchange/interchange.h"

#include <stdlib.h>
#include <string.h>

#include "export/exporter.h"
#include "export/frame_table.h"
#include "util/json_out.h"

struct sample {
    const uint32_t *rows; // Rows of the frames, outermost first.
    uint32_t count;
    uint32_t stack; // Index into stacks.
};

struct writer {
    const struct profile *p;
    const struct stacks *stacks;
    struct arena *arena;
    struct frame_table frames;
    struct sample *samples; // Sorted by rows.
    struct json j;
};

static int
compare_samples(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    uint32_t i = 0;

    while (i < x->count && i < y->count && x->rows[i] == y->rows[i])
        i++;
    if (i < x->count && i < y->count)
        return x->rows[i] < y->rows[i] ? -1 : 1;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static void
make_samples(struct writer *w)
{
    w->samples = arena_array(w->arena, w->stacks->count, sizeof *w->samples);
    for (uint32_t i = 0; i < w->stacks->count; i++) {
        size_t count;
        const uint32_t *rows = frame_table_stack(&w->frames, &w->stacks->v[i], &count);
        uint32_t *kept = arena_array(w->arena, count, sizeof *kept);

        memcpy(kept, rows, count * sizeof *kept);
        w->samples[i] = (struct sample){kept, (uint32_t)count, i};
    }
    if (w->stacks->count > 0)
        qsort(w->samples, w->stacks->count, sizeof *w->samples, compare_samples);
}

static int64_t
speedscope_value_of(const struct writer *w, const struct sample *s, enum metric metric)
{
    return metric_value(&w->stacks->v[s->stack].counters, metric);
}

static void
write_frames(struct writer *w)
{
    struct json *j = &w->j;

    json_object(j, "shared");
    json_array(j, "frames");
    for (size_t i = 0; i < w->frames.count; i++) {
        const struct frame_row *row = &w->frames.v[i];

        json_object_line(j, NULL);
        json_string(j, "name", row->name);
        if (*row->file != '\0')
            json_string(j, "file", row->file);
        if (row->line != 0)
            json_uint(j, "line", row->line);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void
speedscope_write_samples(struct writer *w, enum metric metric)
{
    struct json *j = &w->j;

    json_array(j, "samples");
    for (size_t i = 0; i < w->stacks->count; i++) {
        const struct sample *s = &w->samples[i];

        if (speedscope_value_of(w, s, metric) <= 0)
            continue;
        json_array_filled(j, NULL);
        for (uint32_t k = 0; k < s->count; k++)
            json_uint(j, NULL, s->rows[k]);
        json_end(j);
    }
    json_end(j);
    json_array_filled(j, "weights");
    for (size_t i = 0; i < w->stacks->count; i++) {
        int64_t value = speedscope_value_of(w, &w->samples[i], metric);

        if (value > 0)
            json_int(j, NULL, value);
    }
    json_end(j);
}

static void
write_metric(struct writer *w, enum metric metric)
{
    struct json *j = &w->j;
    int64_t sum = 0, below = 0;

    for (size_t i = 0; i < w->stacks->count; i++) {
        int64_t value = metric_value(&w->stacks->v[i].counters, metric);
        int64_t *side = value > 0 ? &sum : &below;

        *side = counters_sum(*side, value);
    }
    json_object(j, NULL);
    json_string(j, "type", "sampled");
    json_string(j, "name", title_metric(w->p, metric, below, w->arena));
    json_string(j, "unit", metric_is_bytes(metric) ? "bytes" : "none");
    json_int(j, "startValue", 0);
    json_int(j, "endValue", sum);
    speedscope_write_samples(w, metric);
    json_end(j);
}

static void
speedscope_write_file(struct writer *w, enum metric wanted)
{
    struct json *j = &w->j;
    uint64_t active = 0;

    for (int m = 0; m < (int)wanted; m++)
        active += metric_is_known_of(w->p, (enum metric)m);
    json_object(j, NULL);
    json_string(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_string(j, "exporter", title_exporter(w->p, w->arena));
    json_string(j, "name", title_profile(w->p, w->stacks, w->arena));
    json_uint(j, "activeProfileIndex", active);
    write_frames(w);
    json_array(j, "profiles");
    for (int m = 0; m <= METRIC_COUNT; m++)
        if (metric_is_known_of(w->p, (enum metric)m))
            write_metric(w, (enum metric)m);
    json_end(j);
    json_end(j);
}

int
export_speedscope(const struct profile *p, const struct stacks *stacks,
                  const struct export_options *options, struct strbuf *out, struct err *err)
{
    struct arena arena = {0};
    struct writer w = {.p = p, .stacks = stacks, .arena = &arena};

    (void)err;
    frame_table_init(&w.frames, p, stacks, &options->roots, &arena);
    json_begin(&w.j, out, JSON_VERSION_TABLES);
    make_samples(&w);
    speedscope_write_file(&w, options->metric);
    frame_table_release(&w.frames);
    arena_release(&arena);
    return 0;
}
