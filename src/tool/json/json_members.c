/* json_members.c: write members that all JSON documents share.
 *
 * Values are exact and complete. docs/json.md is the contract for the layout: members may be added,
 * but none is renamed, removed or changed in unit without a new "version". Unknown values are null,
 * never an empty string. Addresses are strings, because JSON readers store numbers as doubles. */
#include "json/json_tables.h"

#include <stdio.h>

#include "analyse/interval.h"
#include "analyse/totals.h"
#include "view/phrases.h"
#include "view/table.h"

void
json_known(struct json *j, const char *key, const char *text)
{
    json_string(j, key, text && *text ? text : NULL);
}

void
json_of_whole(struct json *j, const char *key, const struct counters *c, int64_t value)
{
    if (c->partial)
        json_string(j, key, NULL);
    else
        json_int(j, key, value);
}

/* Write the short-lived blocks of C under keys that begin with PREFIX; null if unknown. */
static void
json_lifetimes(struct json *j, const char *prefix, const struct counters *c)
{
    const struct {
        const char *key;
        int64_t value;
    } within[] = {{"died_within_16", counters_within_16(c)},
                  {"died_within_256", counters_within_256(c)}};

    for (size_t i = 0; i < countof(within); i++) {
        char key[64];

        snprintf(key, sizeof key, "%s%s", prefix, within[i].key);
        if (c->lifetimes_unknown)
            json_string(j, key, NULL);
        else
            json_int(j, key, within[i].value);
    }
}

void
json_counters(struct json *j, const struct counters *c)
{
    bool any = c->size_min != SIZE_MIN_NONE;

    json_int(j, "allocations", c->allocations);
    json_int(j, "allocated_bytes", c->allocated_bytes);
    json_int(j, "frees", c->frees);
    json_int(j, "freed_bytes", c->freed_bytes);
    json_of_whole(j, "reallocations", c, c->reallocations);
    json_int(j, "live_blocks", counters_live_blocks(c));
    json_int(j, "live_bytes", counters_live_bytes(c));
    json_of_whole(j, "peak_blocks", c, c->peak_blocks);
    json_of_whole(j, "peak_bytes", c, c->peak_bytes);
    json_of_whole(j, "temporary", c, c->temporary);
    json_lifetimes(j, "", c);
    json_of_whole(j, "size_min", c, any ? (int64_t)c->size_min : 0);
    json_of_whole(j, "size_max", c, (int64_t)c->size_max);
}

void
json_estimated(struct json *j, const struct profile *p, const char *prefix, const struct errors *e)
{
    char name[64];

    if (!profile_has_unbounded(p))
        return;
    snprintf(name, sizeof name, "%sestimated", prefix);
    json_bool(j, name, errors_or_none(e)->unbounded);
}

static void
json_limit(struct json *j, const char *prefix, const char *key, const char *end, double limit)
{
    char name[64];

    snprintf(name, sizeof name, "%s%s%s", prefix, key, end);
    json_int(j, name, interval_rounded(limit));
}

void
json_metric_errors(struct json *j, const char *prefix, const char *key, const struct counters *c,
                   const struct errors *e, enum metric metric)
{
    struct interval r = interval_of_metric(c, e, metric);

    json_limit(j, prefix, key, "_low", r.low);
    json_limit(j, prefix, key, "_high", r.high);
}

void
json_errors(struct json *j, const char *prefix, const struct counters *c, const struct errors *e)
{
    static const struct {
        const char *key;
        enum interval_of what;
    } intervals[] = {
        {"allocations", INTERVAL_ALLOCATIONS}, {"allocated_bytes", INTERVAL_ALLOCATED_BYTES},
        {"live_blocks", INTERVAL_LIVE_BLOCKS}, {"live_bytes", INTERVAL_LIVE_BYTES},
        {"peak_blocks", INTERVAL_PEAK_BLOCKS}, {"peak_bytes", INTERVAL_PEAK_BYTES},
    };

    json_limit(j, prefix, "samples", "", errors_or_none(e)->allocated.samples);
    json_limit(j, prefix, "live_samples", "", interval_samples(e, INTERVAL_LIVE_BYTES));
    json_limit(j, prefix, "peak_samples", "", interval_samples(e, INTERVAL_PEAK_BYTES));
    for (size_t i = 0; i < countof(intervals); i++) {
        struct interval r = interval_of(c, e, intervals[i].what);

        json_limit(j, prefix, intervals[i].key, "_low", r.low);
        json_limit(j, prefix, intervals[i].key, "_high", r.high);
    }
}

void
json_self(struct json *j, const struct counters *c)
{
    json_int(j, "self_allocations", c->allocations);
    json_int(j, "self_allocated_bytes", c->allocated_bytes);
    json_int(j, "self_frees", c->frees);
    json_int(j, "self_freed_bytes", c->freed_bytes);
    json_int(j, "self_live_blocks", counters_live_blocks(c));
    json_int(j, "self_live_bytes", counters_live_bytes(c));
    json_of_whole(j, "self_peak_blocks", c, c->peak_blocks);
    json_of_whole(j, "self_peak_bytes", c, c->peak_bytes);
    json_of_whole(j, "self_temporary", c, c->temporary);
    json_lifetimes(j, "self_", c);
    json_of_whole(j, "self_reallocations", c, c->reallocations);
}

static void
json_process_end(struct json *j, const struct profile_process *pr)
{
    static const char *const how[] = {[END_EXITED] = "exited",
                                      [END_KILLED] = "killed",
                                      [END_NO_MEMORY] = "out-of-memory"};
    struct arena arena = {0};

    if (pr->end_kind == END_UNKNOWN) {
        json_string(j, "end", NULL);
        return;
    }
    json_object(j, "end");
    json_string(j, "how", how[pr->end_kind]);
    if (pr->end_kind == END_EXITED) {
        json_uint(j, "status", pr->end_value);
    } else {
        json_uint(j, "signal", pr->end_value);
        json_string(j, "name", phrase_signal(&arena, pr->end_value));
    }
    json_end(j);
    arena_release(&arena);
}

static void
json_process(struct json *j, const struct profile *p)
{
    const struct profile_process *pr = &p->process;

    json_object(j, "process");
    json_known(j, "command", pr->command);
    json_uint(j, "pid", pr->pid);
    if (pr->pid_here != 0)
        json_uint(j, "pid_here", pr->pid_here);
    json_uint(j, "parent_pid", pr->parent_pid);
    json_known(j, "executable", pr->executable);
    json_uint(j, "start_unix_ns", pr->start_unix_ns);
    json_uint(j, "elapsed_ns", pr->elapsed_ns);
    json_bool(j, "elapsed_is_least", pr->elapsed_is_least);
    json_bool(j, "ended", pr->ended);
    json_process_end(j, pr);
    json_bool(j, "forked", pr->forked);
    json_bool(j, "attached", pr->attached);
    if (pr->earlier_blocks != 0) {
        json_uint(j, "earlier_blocks", pr->earlier_blocks);
        json_uint(j, "earlier_bytes", pr->earlier_bytes);
    }
    json_known(j, "kernel", pr->kernel);
    json_known(j, "machine", pr->machine);
    json_uint(j, "cpu_count", pr->cpu_count);
    json_uint(j, "page_bytes", pr->page_bytes);
    if (p->frames_kept != 0)
        json_uint(j, "frames_kept", p->frames_kept);
    else
        json_string(j, "frames_kept", NULL);
    json_known(j, "heaptap", pr->heaptap);
    json_uint(j, "sample_period_bytes", p->sample_period_bytes);
    if (p->callers_period != 0)
        json_uint(j, "callers_period", p->callers_period);
    json_known(j, "profile", p->path);
    json_end(j);
}

void
json_merged(struct json *j, const struct profile *p)
{
    if (p->merged_processes == 0)
        return;
    json_object(j, "merged");
    json_uint(j, "processes", p->merged_processes);
    json_uint(j, "damaged", p->merged_damaged);
    json_uint(j, "left_out", p->merged_left_out);
    json_array(j, "programs");
    for (size_t i = 0; i < p->program_count; i++) {
        json_object_line(j, NULL);
        json_known(j, "executable", p->programs[i].executable);
        json_uint(j, "processes", p->programs[i].processes);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void
json_recording_modes(struct json *j, const struct profile *p)
{
    static const char *const modes[] = {
        [MODE_EXACT] = "exact", [MODE_BYTES] = "bytes", [MODE_COUNT] = "count", [MODE_OFF] = "off"};

    json_array(j, "phases");
    for (size_t i = 0; i < p->mode_count; i++) {
        json_object_line(j, NULL);
        json_uint(j, "elapsed_ns", p->modes[i].elapsed_ns);
        json_string(j, "mode", modes[p->modes[i].mode]);
        json_uint(j, "period", p->modes[i].period);
        if (p->modes[i].callers_period != 0)
            json_uint(j, "callers_period", p->modes[i].callers_period);
        json_end(j);
    }
    json_end(j);
}

const char *const json_snapshot_kinds[SNAPSHOT_KINDS] = {
    [SNAPSHOT_ASKED] = "asked",   [SNAPSHOT_TIMED] = "timed",   [SNAPSHOT_PROGRAM] = "program",
    [SNAPSHOT_PHASE] = "phase",   [SNAPSHOT_GROWTH] = "growth", [SNAPSHOT_SIGNAL] = "signal",
    [SNAPSHOT_PERIOD] = "period",
};

void
json_snapshot(struct json *j, const struct profile_snapshot *s)
{
    json_object_line(j, NULL);
    json_uint(j, "elapsed_ns", s->elapsed_ns);
    json_known(j, "name", s->name);
    json_string(j, "kind", json_snapshot_kinds[s->kind]);
    json_int(
        j, "live_bytes",
        counters_sum(s->amounts.allocated_bytes, (int64_t)(0 - (uint64_t)s->amounts.freed_bytes)));
    json_int(j, "allocations", s->amounts.allocations);
    json_int(j, "allocated_bytes", s->amounts.allocated_bytes);
    json_end(j);
}

static void
json_snapshots(struct json *j, const struct profile *p)
{
    json_array(j, "snapshots");
    for (size_t i = 0; i < p->snapshot_count; i++)
        if (*p->snapshots[i].name != '\0')
            json_snapshot(j, &p->snapshots[i]);
    json_end(j);
}

static void
json_profile_point(struct json *j, const char *key, const struct profile_point *m)
{
    static const char *const lives[] = {[POINT_OF_LIFE] = "running",
                                        [POINT_BEFORE_START] = "not started",
                                        [POINT_AFTER_END] = "ended"};

    json_object_line(j, key);
    json_uint(j, "elapsed_ns", m->elapsed_ns);
    json_known(j, "name", m->name);
    json_string(j, "process", lives[m->life]);
    if (m->unreached_ns != 0)
        json_uint(j, "unreached_ns", m->unreached_ns);
    else
        json_string(j, "unreached_ns", NULL);
    json_end(j);
}

void
json_extent(struct json *j, const struct profile *p)
{
    if (p->extent == EXTENT_BETWEEN)
        json_profile_point(j, "from", &p->from);
    if (p->extent == EXTENT_BETWEEN)
        json_profile_point(j, "to", &p->to);
    if (p->extent == EXTENT_AT || p->extent == EXTENT_PEAK)
        json_profile_point(j, "at", &p->to);
}

void
json_head(struct json *j, const char *format, const struct profile *p,
          const struct counters *totals, const struct errors *errors)
{
    json_string(j, "format", format);
    json_uint(j, "version", j->version);
    json_string(j, "damage", p->damage);
    json_process(j, p);
    json_merged(j, p);
    json_object(j, "totals");
    json_counters(j, totals);
    if (profile_has_errors(p))
        json_errors(j, "", totals, errors);
    json_of_whole(j, "peak_error_bytes", totals, p->peak_error_bytes);
    json_of_whole(j, "peak_elapsed_ns", totals, (int64_t)p->peak_elapsed_ns);
    json_end(j);
    json_recording_modes(j, p);
    json_snapshots(j, p);
    json_extent(j, p);
}

static void
json_tableless_files(struct json *j, const struct profile *p)
{
    struct arena scratch = {0};
    struct tableless_files files = {0};

    if (p->losses.ends_without_table != 0)
        tableless_files_build(p, &scratch, &files);
    json_array(j, "files_without_tables");
    for (size_t i = 0; i < files.count; i++)
        json_string(j, NULL, files.v[i].path);
    json_end(j);
    arena_release(&scratch);
}

void
json_losses(struct json *j, const struct profile *p)
{
    json_object(j, "losses");
    for (size_t i = 0; i < loss_field_count; i++)
        json_uint(j, loss_fields[i].key, loss_value(&p->losses, &loss_fields[i]));
    json_uint(j, "other_site_bytes", p->losses.other_site_bytes);
    json_uint(j, "shortened_bytes", p->losses.shortened_bytes);
    json_uint(j, "truncated_bytes", p->losses.truncated_bytes);
    json_uint(j, "broken_bytes", p->losses.broken_bytes);
    json_bool(j, "file_failed", p->losses.file_failed);
    json_bool(j, "inclusive_is_lower_bound",
              p->losses.other_site_events != 0 || p->losses.shortened_stacks != 0 ||
                  p->losses.truncated_stacks != 0 || p->losses.unwind_failures != 0 ||
                  p->has_callerless);
    json_end(j);
    json_tableless_files(j, p);
}

void
json_labels(struct json *j, const struct profile_label_set *set)
{
    json_label_set(j, "labels", set);
}

void
json_label_set(struct json *j, const char *key, const struct profile_label_set *set)
{
    if (set->count == 0 && *set->text != '\0') {
        json_string(j, key, NULL);
        return;
    }
    json_object_line(j, key);
    for (size_t i = 0; i < set->count; i++)
        json_string(j, set->v[i].key, set->v[i].value);
    json_end(j);
}

void
json_classes(struct json *j, const struct functions *f, const char *key, const struct amount *a)
{
    json_object_line(j, key);
    for (size_t i = 0; i < SIZE_CLASS_COUNT; i++) {
        const char letter[] = {functions_class_letters(f)[i], '\0'};

        json_int(j, letter, a->by_class[i]);
    }
    json_end(j);
}

void
json_classes_of(struct json *j, const struct functions *f)
{
    json_string(j, "classes_of", f->heap_classes != NULL ? "types" : "sizes");
}

void
json_module(struct json *j, const struct profile_module *m, const char *path,
            const struct user_code *own)
{
    static const char *const kinds[] = {
        [CODE_RUNTIME] = "runtime", [CODE_LIBRARY] = "library", [CODE_USER] = "own"};
    static const char *const symbols[] = {
        [SYMBOLS_UNKNOWN] = NULL,  [SYMBOLS_NONE] = "none",   [SYMBOLS_EXPORTS] = "exports",
        [SYMBOLS_TABLE] = "table", [SYMBOLS_DEBUG] = "debug",
    };
    char build_id[2 * PROFILE_BUILD_ID_MAX + 1] = "";

    json_object_line(j, NULL);
    json_known(j, "path", path);
    if (m != NULL) {
        for (uint32_t i = 0; i < m->build_id_bytes && i < PROFILE_BUILD_ID_MAX; i++)
            snprintf(build_id + 2 * (size_t)i, 3, "%02x", m->build_id[i]);
        json_known(j, "build_id", build_id);
        json_string(j, "symbols", symbols[m->symbols]);
    }
    if (m != NULL && own != NULL) {
        uint32_t id = (uint32_t)(m - own->p->modules);

        json_string(j, "kind", kinds[own->kinds[id]]);
        json_bool(j, "program", profile_is_program(own->p, id));
        json_bool(j, "interpreter", own->interpreters[id]);
    }
    json_end(j);
}
