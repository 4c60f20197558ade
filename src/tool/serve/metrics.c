/* metrics.c: the numbers of processes as text for Prometheus, format 0.0.4.
 *
 *     process ─┐
 *     process ─┼─► program ─► one line for each number, one for each of the largest functions
 *     process ─┘
 *
 * Series are by program, because process ids would make new series without end. The counts of ended
 * processes remain in the sum of their program, so counters only rise; a restart of the server is a
 * reset, as Prometheus expects. The first programs have separate series, and all others share
 * the name "other": a program never changes from one to the other, because that would look like
 * events. */
#include "serve/metrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/exporter.h"
#include "util/arena.h"

enum { FUNCTIONS_SHOWN = 10, HEAPS_SHOWN = 8, VALUES_SHOWN = 16 };

/* Number of lines of one program: numbers, losses, and named amounts with their rest. */
enum {
    NUMBERS = 10,
    LINES_OF_PROGRAM =
        NUMBERS + METRICS_LOSSES + FUNCTIONS_SHOWN + HEAPS_SHOWN + VALUES_SHOWN + 3,
    PROGRAMS_MAX = (METRICS_SERIES_MAX - 1) / LINES_OF_PROGRAM,
};

#define OTHER "other"

static const char *const loss_causes_shown[METRICS_LOSSES] = {"signal_handler", "no_memory",
                                                             "no_thread", "starting", "heap"};

struct program {
    const char *name;
    struct metrics_process sum; // peak_bytes and sample_period_bytes are maxima.
    uint64_t running;
    int64_t live_bytes, live_blocks;
    struct metrics_named *named;
    size_t named_count, named_capacity;
};

struct programs {
    struct arena arena;
    struct program *v;
    size_t count, capacity;
};

void
metrics_name(char ret[METRICS_NAME_BYTES], const char *text)
{
    struct strbuf valid = {0};
    size_t end = 0;

    utf8_add(&valid, text);
    while (end < valid.length) {
        size_t size = utf8_size(valid.text + end);

        if (size == 0 || end + size >= METRICS_NAME_BYTES)
            break;
        end += size;
    }
    memcpy(ret, strbuf_text(&valid), end);
    ret[end] = '\0';
    strbuf_release(&valid);
}

void
metrics_keep_rising(struct metrics_process *new, const struct metrics_process *old)
{
    int64_t *const to[] = {&new->allocations, &new->allocated_bytes, &new->frees, &new->freed_bytes,
                           &new->peak_bytes};
    const int64_t from[] = {old->allocations, old->allocated_bytes, old->frees, old->freed_bytes,
                            old->peak_bytes};

    for (size_t i = 0; i < countof(to); i++)
        if (*to[i] < from[i])
            *to[i] = from[i];
    for (size_t i = 0; i < METRICS_LOSSES; i++)
        if (new->losses[i] < old->losses[i])
            new->losses[i] = old->losses[i];
}

static struct program *
program_called(struct programs *l, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->v[i].name, name) == 0)
            return &l->v[i];
    if (l->count + 1 >= PROGRAMS_MAX && strcmp(name, OTHER) != 0)
        return program_called(l, OTHER);
    arena_grow(&l->arena, &l->v, &l->capacity, l->count, sizeof *l->v);
    l->v[l->count] = (struct program){.name = arena_strdup(&l->arena, name)};
    return &l->v[l->count++];
}

/* Add ONE to the amount of the same name in P. */
static void
add_named(struct programs *l, struct program *p, const struct metrics_named *one)
{
    for (size_t i = 0; i < p->named_count; i++) {
        struct metrics_named *n = &p->named[i];

        if (n->kind == one->kind && strcmp(n->name, one->name) == 0 &&
            strcmp(n->key, one->key) == 0) {
            n->live_bytes = counters_sum(n->live_bytes, one->live_bytes);
            return;
        }
    }
    arena_grow(&l->arena, &p->named, &p->named_capacity, p->named_count, sizeof *p->named);
    p->named[p->named_count++] = *one;
}

static void
add_process(struct programs *l, const struct metrics_row *row)
{
    const struct metrics_process *n = &row->numbers;
    struct program *p = program_called(l, n->program);
    struct metrics_process *sum = &p->sum;

    sum->allocations = counters_sum(sum->allocations, n->allocations);
    sum->allocated_bytes = counters_sum(sum->allocated_bytes, n->allocated_bytes);
    sum->frees = counters_sum(sum->frees, n->frees);
    sum->freed_bytes = counters_sum(sum->freed_bytes, n->freed_bytes);
    for (size_t i = 0; i < METRICS_LOSSES; i++)
        sum->losses[i] += n->losses[i];
    if (n->peak_bytes > sum->peak_bytes)
        sum->peak_bytes = n->peak_bytes;
    if (row->ended)
        return;
    p->running++;
    p->live_blocks = counters_sum(p->live_blocks, counters_difference(n->allocations, n->frees));
    p->live_bytes =
        counters_sum(p->live_bytes, counters_difference(n->allocated_bytes, n->freed_bytes));
    sum->recorder_bytes += n->recorder_bytes;
    if (n->sample_period_bytes > sum->sample_period_bytes)
        sum->sample_period_bytes = n->sample_period_bytes;
    for (size_t i = 0; i < n->named_count; i++)
        add_named(l, p, &row->named[i]);
}

/* Append VALUE, of a label, in the form between quotes. */
static void
put_escaped(struct strbuf *out, const char *value)
{
    for (; *value != '\0'; value++) {
        if (*value == '\\' || *value == '"')
            strbuf_char(out, '\\');
        if (*value == '\n')
            strbuf_str(out, "\\n");
        else
            strbuf_char(out, *value);
    }
}

static void
put_label(struct strbuf *out, const char *name, const char *value)
{
    strbuf_fmt(out, "%s%s=\"", out->text[out->length - 1] == '{' ? "" : ",", name);
    put_escaped(out, value);
    strbuf_char(out, '"');
}

static void
put_head(struct strbuf *out, const char *name, const char *type, const char *help)
{
    strbuf_fmt(out, "# HELP heaptap_%s %s\n# TYPE heaptap_%s %s\n", name, help, name, type);
}

static void
put_begin(struct strbuf *out, const char *name, const struct program *p)
{
    strbuf_fmt(out, "heaptap_%s{", name);
    put_label(out, "program", p->name);
}

static void
put_end(struct strbuf *out, int64_t value)
{
    strbuf_fmt(out, "} %" PRId64 "\n", value);
}

/* A number of a program, at an offset of struct program. */
struct number {
    const char *name, *type, *help;
    size_t offset;
};

#define NUMBER(name, type, field, help) {name, type, help, offsetof(struct program, field)}

static const struct number numbers[] = {
    NUMBER("processes", "gauge", running, "Recorded processes that run."),
    NUMBER("live_bytes", "gauge", live_bytes, "Requested bytes of live blocks."),
    NUMBER("live_blocks", "gauge", live_blocks, "Live blocks."),
    NUMBER("peak_bytes", "gauge", sum.peak_bytes,
           "Largest peak of live bytes of one process, running or ended."),
    NUMBER("recorder_memory_bytes", "gauge", sum.recorder_bytes,
           "Memory of the recorder, its file included."),
    NUMBER("sample_period_bytes", "gauge", sum.sample_period_bytes,
           "Largest average number of bytes for each sample; 0 = exact counts."),
    NUMBER("allocations_total", "counter", sum.allocations, "Calls that returned a block."),
    NUMBER("allocated_bytes_total", "counter", sum.allocated_bytes, "Requested bytes."),
    NUMBER("frees_total", "counter", sum.frees, "Blocks that ended or moved."),
    NUMBER("freed_bytes_total", "counter", sum.freed_bytes, "Bytes of blocks that ended or moved."),
};
static_assert(countof(numbers) == NUMBERS, "the limit on series counts them");

static void
put_numbers(const struct programs *l, struct strbuf *out)
{
    for (size_t i = 0; i < countof(numbers); i++) {
        put_head(out, numbers[i].name, numbers[i].type, numbers[i].help);
        for (size_t k = 0; k < l->count; k++) {
            int64_t value;

            memcpy(&value, (const char *)&l->v[k] + numbers[i].offset, sizeof value);
            put_begin(out, numbers[i].name, &l->v[k]);
            put_end(out, value);
        }
    }
}

static void
put_losses(const struct programs *l, struct strbuf *out)
{
    static const char name[] = "lost_events_total";

    put_head(out, name, "counter", "Allocations and frees that were not recorded.");
    for (size_t k = 0; k < l->count; k++)
        for (size_t i = 0; i < METRICS_LOSSES; i++) {
            put_begin(out, name, &l->v[k]);
            put_label(out, "cause", loss_causes_shown[i]);
            put_end(out, (int64_t)l->v[k].sum.losses[i]);
        }
}

/* Compare for sorting: largest first, the rest last, then by name. */
static int
by_bytes(const void *a, const void *b)
{
    const struct metrics_named *x = a, *y = b;
    bool rest_x = *x->name == '\0', rest_y = *y->name == '\0';
    int order;

    if (rest_x != rest_y)
        return rest_x ? 1 : -1;
    order = counters_by_magnitude(x->live_bytes, y->live_bytes);
    if (order == 0)
        order = strcmp(x->name, y->name);
    return order != 0 ? order : strcmp(x->key, y->key);
}

/* Append the SHOWN largest amounts of KIND of P, and the sum of the others. */
static void
put_named_of(const struct program *p, enum metrics_kind kind, const char *name, const char *label,
             size_t shown, struct strbuf *out)
{
    int64_t rest = 0;
    size_t count = 0;
    bool has_rest = false;

    for (size_t i = 0; i < p->named_count; i++) {
        const struct metrics_named *n = &p->named[i];

        if (n->kind != (uint32_t)kind)
            continue;
        if (count == shown || *n->name == '\0' || strcmp(n->name, OTHER) == 0) {
            rest = counters_sum(rest, n->live_bytes);
            has_rest = true;
            continue;
        }
        count++;
        put_begin(out, name, p);
        if (*n->key != '\0')
            put_label(out, "key", n->key);
        put_label(out, label, n->name);
        put_end(out, n->live_bytes);
    }
    if (!has_rest && (kind != METRICS_FUNCTION || count == 0))
        return;
    put_begin(out, name, p);
    put_label(out, label, OTHER);
    put_end(out, rest);
}

static void
put_named(const struct programs *l, struct strbuf *out)
{
    static const struct {
        enum metrics_kind kind;
        const char *name, *label, *help;
        size_t shown;
    } kinds[] = {
        {METRICS_FUNCTION, "site_live_bytes", "function",
         "Live bytes of the functions that hold most.", FUNCTIONS_SHOWN},
        {METRICS_HEAP, "heap_live_bytes", "heap",
         "Live bytes of malloc and of the program's heaps.", HEAPS_SHOWN},
        {METRICS_LABEL, "label_live_bytes", "value", "Live bytes of the values of a label.",
         VALUES_SHOWN},
    };

    for (size_t k = 0; k < l->count; k++)
        if (l->v[k].named_count > 0)
            qsort(l->v[k].named, l->v[k].named_count, sizeof *l->v[k].named, by_bytes);
    for (size_t i = 0; i < countof(kinds); i++) {
        size_t before = out->length, head;

        put_head(out, kinds[i].name, "gauge", kinds[i].help);
        head = out->length;
        for (size_t k = 0; k < l->count; k++)
            put_named_of(&l->v[k], kinds[i].kind, kinds[i].name, kinds[i].label, kinds[i].shown,
                         out);
        if (out->length == head)
            strbuf_cut(out, before);
    }
}

void
metrics_text(const struct metrics_row *rows, size_t count, uint64_t unreadable, struct strbuf *out)
{
    struct programs l = {0};

    for (size_t i = 0; i < count; i++)
        add_process(&l, &rows[i]);
    put_numbers(&l, out);
    put_losses(&l, out);
    put_named(&l, out);
    put_head(out, "unreadable_profiles", "gauge", "Profiles that cannot be read.");
    strbuf_fmt(out, "heaptap_unreadable_profiles %" PRIu64 "\n", unreadable);
    arena_release(&l.arena);
}
