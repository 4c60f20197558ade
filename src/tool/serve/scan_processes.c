/* scan_processes.c: read the numbers of all processes, as seldom as possible.
 *
 * A profile is read again only if its bytes have changed, and not before 20 times the duration of
 * its last reading. So idle processes cost a hash of their profiles, and busy ones at most 5 % of a
 * processor. Each reading is a child of this child: a profile that crashes the reader, or a symbol
 * file that takes for ever, costs only its own numbers. */
#include "serve/scan_processes.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyse/frame_name.h"
#include "analyse/top_holders.h"
#include "open/open_set.h"
#include "open/pick_stacks.h"
#include "open/symbolise.h"
#include "serve/worker.h"
#include "util/path.h"
#include "view/table.h"

enum { REST_FACTOR = 20, READ_SECONDS = 60 };

struct read_job {
    const struct serve_options *options;
    const char *what;
};

struct named_list {
    struct metrics_named v[METRICS_NAMED_MAX];
    uint32_t count;
};

static uint64_t
scan_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Add LIVE_BYTES of NAME to L; the last of the entries up to END of a kind is everything else. */
static void
name_amount(struct named_list *l, enum metrics_kind kind, uint32_t end, const char *key,
            const char *name, int64_t live_bytes)
{
    struct metrics_named one = {.kind = kind, .live_bytes = live_bytes};
    struct metrics_named *last = l->count > 0 ? &l->v[l->count - 1] : NULL;

    if (last != NULL && l->count == end && last->kind == (uint32_t)kind && *last->name == '\0') {
        last->live_bytes = counters_sum(last->live_bytes, live_bytes);
        return;
    }
    if (l->count + 1 < end) {
        metrics_name(one.key, key);
        metrics_name(one.name, name);
    }
    l->v[l->count++] = one;
}

static void
name_functions(const struct profile *p, const struct stacks *stacks, struct arena *arena,
               struct named_list *l)
{
    uint32_t end = l->count + METRICS_FUNCTIONS_MAX;
    struct top_holders holders;

    top_holders_build(p, stacks, METRIC_INUSE, arena, &holders);
    for (size_t i = 0; i < holders.count; i++) {
        const struct top_holder *h = &holders.v[i];
        const struct stack *s = h->largest;

        name_amount(l, METRICS_FUNCTION, end, "",
                    s->depth == 0
                        ? FRAME_NAME_OTHER
                        : frame_name(p, s->frames[h->own], s->locations[h->own], arena),
                    counters_live_bytes(&h->counters));
    }
}

static void
name_heaps(const struct profile *p, struct named_list *l)
{
    uint32_t end = l->count + METRICS_HEAPS_MAX;

    for (size_t i = 0; i < p->heap_count && tags_has_heaps(p); i++)
        name_amount(l, METRICS_HEAP, end, "", p->heaps[i].name,
                    counters_live_bytes(&p->heaps[i].counters));
}

static void
name_labels(const struct profile *p, const struct opt_list *keys, struct named_list *l)
{
    uint32_t end = l->count + METRICS_LABELS_MAX;

    for (size_t i = 0; i < p->label_set_count; i++)
        for (size_t k = 0; k < p->label_sets[i].count; k++)
            for (size_t n = 0; n < keys->count; n++)
                if (strcmp(p->label_sets[i].v[k].key, keys->items[n]) == 0)
                    name_amount(l, METRICS_LABEL, end, keys->items[n], p->label_sets[i].v[k].value,
                                counters_live_bytes(&p->label_sets[i].counters));
}

/* Job of a worker: write the numbers of one profile; nothing if --only leaves it out. */
static void
read_one(void *arg, int fd)
{
    const struct read_job *job = arg;
    const struct view_options *view = &job->options->view;
    struct stacks_options options = pick_options(view, true);
    struct metrics_process m = {0};
    static struct named_list named;
    struct arena arena = {0};
    struct session_who who;
    struct stacks stacks;
    struct profile *p;
    struct err err;

    if (open_one(job->what, &p, &err) != 0)
        _exit(1);
    if (view->only != NULL && !set_is_picked(p, view->only, &arena))
        return;
    if (symbolise_quietly(p, &view->symbols) != 0)
        _exit(1);
    pick_frames(p, view, true);
    if (stacks_build(p, &options, &arena, &stacks, &err) != 0)
        _exit(1);
    who = session_who(p, &arena);
    metrics_name(m.program, *who.program != '\0' ? who.program : "unknown");
    m.allocations = p->totals.allocations;
    m.allocated_bytes = p->totals.allocated_bytes;
    m.frees = p->totals.frees;
    m.freed_bytes = p->totals.freed_bytes;
    m.peak_bytes = p->totals.peak_bytes;
    m.recorder_bytes = p->recorder.memory_bytes;
    m.sample_period_bytes = p->sample_period_bytes;
    for (size_t i = 0; i < METRICS_LOSSES; i++)
        m.losses[i] = loss_value(&p->losses, &loss_fields[i + 1]);
    name_functions(p, &stacks, &arena, &named);
    name_heaps(p, &named);
    name_labels(p, &job->options->label_metrics, &named);
    m.named_count = named.count;
    worker_write(fd, &m, sizeof m);
    worker_write(fd, named.v, named.count * sizeof *named.v);
}

/* Read the profile of T in a child. Set S->state, and return the output of the child. */
static struct strbuf
read_apart(const struct serve_options *o, const struct target *t, struct scanned *s)
{
    struct read_job job = {o, t->what};
    enum worker_state state = WORKER_RUNS;
    struct worker w;

    s->read_ns = scan_now_ns();
    s->state = SCAN_FAILED;
    if (!worker_start(&w, read_one, &job, READ_SECONDS))
        return (struct strbuf){0};
    while (state == WORKER_RUNS) {
        struct pollfd p = {.fd = w.fd, .events = POLLIN};

        poll(&p, 1, 1000);
        state = worker_read(&w);
    }
    s->cost_ns = scan_now_ns() - s->read_ns;
    if (state == WORKER_DONE)
        s->state = w.output.length > 0 ? SCAN_NEW : SCAN_LEFT_OUT;
    return w.output;
}

static void
scan_one(const struct scan_job *job, struct target *t, int fd)
{
    struct scanned s = {.id = t->id, .pid = t->pid, .inner_pid = t->inner_pid, .state = SCAN_NEW};
    const struct scanned *known = NULL;
    struct strbuf read = {0};
    bool same, rests;

    for (size_t i = 0; i < job->known_count && known == NULL; i++)
        if (job->known[i].id == t->id)
            known = &job->known[i];
    snprintf(s.path, sizeof s.path, "%s", t->what);
    target_look(t);
    s.content = t->content;
    same = known != NULL && t->content != 0 && known->content == t->content;
    // The last reading of a process is never left out.
    rests = known != NULL && t->pid != 0 &&
            scan_now_ns() - known->read_ns < REST_FACTOR * known->cost_ns;
    if (same || rests) {
        s.state = SCAN_SAME;
        s.content = known->content;
        s.read_ns = known->read_ns;
        s.cost_ns = known->cost_ns;
    } else {
        read = read_apart(job->options, t, &s);
    }
    worker_write(fd, &s, sizeof s);
    if (s.state == SCAN_NEW)
        worker_write(fd, read.text, read.length);
    strbuf_release(&read);
}

void
answer_scan(void *arg, int fd)
{
    const struct scan_job *job = arg;
    struct arena arena = {0};
    struct target *targets;
    size_t count;

    worker_enter();
    targets = targets_find(job->options, false, job->since, &arena, &count);
    for (size_t i = 0; i < count; i++)
        scan_one(job, &targets[i], fd);
}
