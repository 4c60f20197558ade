/* answer_pprof.c: the answers below /debug/pprof, as Go's net/http/pprof gives them.
 *
 *     heap, allocs      the profile for pprof, or with debug=1 as gperftools' text
 *     seconds=N         the difference of two readings, with negative growths
 *     cmdline           the name of the program
 *
 * Several processes are summed. The server stores nothing between requests: a difference is made by
 * one child, which sleeps between its readings and lets others read meanwhile. */
#include "serve/answer_pprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "load/load.h"
#include "merge/merge.h"
#include "open/open_set.h"
#include "open/pick_stacks.h"
#include "open/symbolise.h"
#include "pprof/pprof.h"
#include "profile/caller_shares.h"
#include "profile/time_slice.h"
#include "serve/sample_cut.h"
#include "serve/worker.h"

struct opened {
    struct target *targets;
    struct profile **v; // NULL = unreadable, or left out by --only.
    size_t count, read, failed;
    struct err err; // The latest error.
};

static _Noreturn void
finish(int fd, uint32_t status, const char *type, const void *body, size_t size_bytes)
{
    struct answer_head head = {.status = status};

    snprintf(head.type, sizeof head.type, "%s", type);
    worker_write(fd, &head, sizeof head);
    worker_write(fd, body, size_bytes);
    _exit(0);
}

static _Noreturn void
finish_text(int fd, uint32_t status, const char *text)
{
    finish(fd, status, "text/plain; charset=utf-8", text, strlen(text));
}

/* Load the profiles of O that are needed. */
static void
load_each(const struct serve_options *o, struct opened *ret, struct arena *arena)
{
    ret->v = arena_array(arena, ret->count, sizeof(struct profile *));
    ret->read = ret->failed = 0;
    for (size_t i = 0; i < ret->count; i++) {
        struct profile *p;

        if (open_one(ret->targets[i].what, &p, &ret->err) != 0) {
            ret->failed++;
        } else if (p->damage != NULL) {
            err_set(&ret->err, HEAPTAP_BAD_INPUT, "%s %s", p->path, p->damage);
            profile_free(p);
            ret->failed++;
        } else if (o->view.only != NULL && !set_is_picked(p, o->view.only, arena)) {
            profile_free(p);
        } else {
            ret->v[i] = p;
            ret->read++;
        }
    }
}

/* Replace the profiles of RET by their changes within SECONDS. A process that ended and one that
 * began meanwhile have none. */
static void
wait_for_changes(const struct serve_options *o, struct opened *ret, uint32_t seconds,
                 struct arena *arena)
{
    struct profile **before = ret->v;

    worker_leave();
    for (unsigned left = seconds; left > 0;)
        left = sleep(left);
    worker_enter();
    load_each(o, ret, arena);
    for (size_t i = 0; i < ret->count; i++) {
        if (ret->v[i] != NULL && before[i] != NULL) {
            profile_cut_since(ret->v[i], before[i]);
        } else if (ret->v[i] != NULL) {
            profile_free(ret->v[i]);
            ret->v[i] = NULL;
            ret->read--;
        }
        profile_free(before[i]);
    }
}

/* Return the sum of the profiles of OPENED, symbolised, with the frames of the options. */
static struct profile *
sum_of(const struct serve_options *o, struct opened *opened, bool cut)
{
    struct merge *m = opened->read > 1 || opened->failed > 0 ? merge_new() : NULL;
    struct profile *sum = NULL;
    uint64_t duration_ns = 0;

    for (size_t i = 0; i < opened->count; i++) {
        struct profile *p = opened->v[i];

        if (p == NULL)
            continue;
        if (!cut)
            callers_spread(p, false);
        if (symbolise_quietly(p, &o->view.symbols) != 0)
            _exit(1);
        if (p->to.elapsed_ns - p->from.elapsed_ns > duration_ns)
            duration_ns = p->to.elapsed_ns - p->from.elapsed_ns;
        if (m != NULL)
            merge_add(m, p);
        else
            sum = p;
    }
    for (size_t i = 0; i < opened->failed && m != NULL; i++)
        merge_left_out(m);
    if (m != NULL)
        sum = merge_finish(m);
    if (m != NULL && cut) {
        sum->to.elapsed_ns = sum->process.elapsed_ns;
        sum->from = (struct profile_point){
            .elapsed_ns = sum->to.elapsed_ns - duration_ns, .name = ""};
    }
    pick_frames(sum, &o->view, false);
    return sum;
}

static _Noreturn void
finish_profile(const struct answer_job *job, const struct profile *p, int fd)
{
    const struct serve_request *r = &job->request;
    struct stacks_options options = pick_options(&job->options->view, true);
    struct export_options how = {.metric = r->what == SERVE_ALLOCS ? METRIC_ALLOC : METRIC_INUSE,
                                 .signed_values = r->seconds != 0};
    export_fn *write = r->text ? export_pprof_text : export_pprof;
    size_t most = job->options->samples_max;
    struct arena arena = {0};
    struct strbuf body = {0};
    struct stacks stacks;
    struct err err;

    options.merge_labels = false;
    if (stacks_build(p, &options, &arena, &stacks, &err) != 0)
        finish_text(fd, 500, err.text);
    do {
        sample_cut(p, &stacks, most, &arena);
        strbuf_clear(&body);
        if (write(p, &stacks, &how, &body, &err) != 0)
            finish_text(fd, 500, err.text);
        most /= 2;
    } while (body.length > SERVE_BODY_BYTES && most > 0);
    finish(fd, 200, r->text ? "text/plain; charset=utf-8" : "application/octet-stream", body.text,
           body.length);
}

/* Answer with the programs' names, or with --expose-cmdline their arguments. */
static _Noreturn void
finish_programs(const struct serve_options *o, const struct opened *opened, struct arena *arena,
                int fd)
{
    struct strbuf body = {0};

    for (size_t i = 0; i < opened->count; i++) {
        struct session_who who;

        if (opened->v[i] == NULL)
            continue;
        who = session_who(opened->v[i], arena);
        if (body.length > 0)
            strbuf_char(&body, '\0');
        strbuf_str(&body, o->expose_command ? who.command : who.program);
    }
    finish(fd, 200, "text/plain; charset=utf-8", body.text, body.length);
}

void
answer_pprof(void *arg, int fd)
{
    struct answer_job *job = arg;
    struct serve_request *r = &job->request;
    struct opened opened = {0};
    struct arena arena = {0};

    worker_enter();
    opened.targets =
        targets_find(job->options, r->profile != NULL, job->since, &arena, &opened.count);
    opened.count = targets_pick(opened.targets, opened.count, r, &arena);
    if (r->status != 0)
        finish_text(fd, r->status, arena_printf(&arena, "%s\n", r->why));
    load_each(job->options, &opened, &arena);
    if (opened.read > 0 && r->seconds != 0)
        wait_for_changes(job->options, &opened, r->seconds, &arena);
    if (opened.read == 0 && opened.failed > 0)
        finish_text(fd, 500, arena_printf(&arena, "%s\n", opened.err.text));
    if (opened.read == 0)
        finish_text(fd, 404, "no process is recorded here\n");
    if (r->what == SERVE_PROGRAM)
        finish_programs(job->options, &opened, &arena, fd);
    finish_profile(job, sum_of(job->options, &opened, r->seconds != 0), fd);
}
