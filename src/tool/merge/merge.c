/* merge.c: sum profiles.
 *
 *     profile ─┬─ modules, stacks, sites ─► merge_tree.c ───────┐
 *     profile ─┤  heaps, labels ─► merge_heaps.c ───────────────┤
 *     profile ─┤  counters, threads, bins, losses ─► here ──────┼─► struct profile ─► write_model
 *     profile ─┤  accesses ─► merge_access.c ───────────────────┤
 *     profile ─┴─ timeline ─► merge_timeline.c ─────────────────┘
 *
 * The sum is an ordinary profile. It grows only by items that are new in an input: stacks, names,
 * threads. An input is released after it was added, so memory holds the sum and one input, however
 * many inputs there are.
 *
 * Counts and bytes are added exactly. The sum does not depend on the order and grouping of inputs,
 * except for the order of items of equal rank. Errors of estimates are added as for independent
 * samples, which recordings are. The peak is the sum of the processes' peaks. That is an upper
 * bound of their common peak, because the peaks need not coincide; the timeline is more precise.
 *
 * Threads of equal name are merged. Snapshots, history and the order of recording modes belong to
 * one process and its clock, so the sum has none of these; it has the set of modes. Inputs may be
 * cut to a moment, all or none of them; the sum then has an extent, but no time, of that moment.
 * For a timeline, which is only displayed, histories are aligned to one clock (merge_history.c). */
#include "merge/merge.h"

#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "merge/merger.h"
#include "profile/profile_valid.h"
#include "profile/time_slice.h"
#include "util/ensure.h"

enum { MODES_MAX = 511 };

struct merge *
merge_new(void)
{
    struct merge *m = xmalloc(sizeof *m);

    *m = (struct merge){.p = xmalloc(sizeof *m->p)};
    *m->p = (struct profile){.totals = COUNTERS_ZERO, .path = ""};
    m->p->process = (struct profile_process){
        .command = "", .executable = "", .kernel = "", .heaptap = "", .machine = "", .ended = true};
    merge_tree_init(m);
    merge_heaps_init(m);
    return m;
}

/* Return a copy of TEXT that lives as long as the sum. */
static const char *
merge_keep(struct merge *m, const char *text)
{
    return strtab_get(&m->p->strings, strtab_id(&m->p->strings, text));
}

static void
merge_threads(struct merge *m, struct merge_input *in)
{
    struct profile *p = m->p;

    in->threads = arena_array(&in->arena, in->p->thread_count, sizeof *in->threads);
    for (size_t i = 0; i < in->p->thread_count; i++) {
        const struct profile_thread *from = &in->p->threads[i];
        uint32_t name = strtab_id(&p->strings, from->name);
        bool is_new;
        uint64_t *known = map_put(&m->threads, name, &is_new);

        if (is_new) {
            arena_grow(&p->arena, &p->threads, &m->thread_capacity, p->thread_count,
                       sizeof *p->threads);
            p->threads[p->thread_count] = (struct profile_thread){
                .name = strtab_get(&p->strings, name), .counters = COUNTERS_ZERO};
            *known = p->thread_count++;
        }
        in->threads[i] = (uint32_t)*known;
        p->threads[*known].uses += from->uses;
    }
}

static void
merge_counters(struct merge *m, struct merge_input *in)
{
    struct profile *p = m->p;

    for (size_t i = 0; i < in->p->thread_site_count; i++) {
        const struct profile_thread_site *from = &in->p->thread_sites[i];
        uint32_t thread = in->threads[from->thread], site = in->sites[from->site];
        bool is_new;
        uint64_t *known = map_put(&m->thread_sites, (uint64_t)thread << 32 | site, &is_new);

        if (is_new) {
            arena_grow(&p->arena, &p->thread_sites, &m->thread_site_capacity, p->thread_site_count,
                       sizeof *p->thread_sites);
            arena_grow(&p->arena, &p->row_counters, &m->row_capacity, p->thread_site_count,
                       sizeof *p->row_counters);
            p->thread_sites[p->thread_site_count] = (struct profile_thread_site){thread, site};
            p->row_counters[p->thread_site_count] = COUNTERS_ZERO;
            *known = p->thread_site_count++;
        }
        profile_count(p, *known, profile_row_counters(in->p, i));
    }
    // The flag is copied separately, because IN may have no rows.
    p->totals.lifetimes_unknown |= in->p->totals.lifetimes_unknown;
    errors_add(&p->errors, &in->p->errors);
}

static void
merge_bins(struct merge *m, const struct profile *from)
{
    struct profile *p = m->p;

    if (p->bin_count == 0) {
        p->bins = arena_array(&p->arena, from->bin_count, sizeof *p->bins);
        p->bin_count = from->bin_count;
        for (size_t i = 0; i < p->bin_count; i++)
            p->bins[i] =
                (struct profile_bin){from->bins[i].size_min, from->bins[i].size_max, COUNTERS_ZERO};
    }
    for (size_t i = 0; i < p->bin_count && i < from->bin_count; i++)
        counters_add(&p->bins[i].counters, &from->bins[i].counters);
}

static void
merge_types(struct merge *m, struct merge_input *in)
{
    struct profile *p = m->p;

    for (size_t i = 0; i < in->p->type_count; i++) {
        const struct profile_type *from = &in->p->types[i];
        uint32_t name = merge_string(m, in, from->name);
        bool is_new = false;

        if (from->size <= UINT32_MAX)
            map_put(&m->types, from->size << 32 | name, &is_new);
        if (!is_new)
            continue;
        arena_grow(&p->arena, &p->types, &m->type_capacity, p->type_count, sizeof *p->types);
        p->types[p->type_count++] = (struct profile_type){from->size, name};
    }
    p->typed = p->typed || in->p->typed;
}

/* Add a recording mode. If there are too many, a similar mode represents it. */
static void
merge_add_mode(struct profile *p, uint32_t mode, uint64_t period, uint64_t callers_period)
{
    struct profile_recording_mode *like = NULL;

    for (size_t i = 0; i < p->mode_count; i++) {
        if (p->modes[i].mode == mode && p->modes[i].period == period &&
            p->modes[i].callers_period == callers_period)
            return;
        if (p->modes[i].mode == mode)
            like = &p->modes[i];
    }
    if (p->mode_count < MODES_MAX)
        p->modes[p->mode_count++] = (struct profile_recording_mode){
            .mode = mode, .period = period, .callers_period = callers_period};
    else if (like != NULL && like->period < period)
        like->period = period;
}

static void
merge_modes(struct merge *m, const struct profile *from)
{
    struct profile *p = m->p;

    if (p->modes == NULL)
        p->modes = arena_array(&p->arena, MODES_MAX, sizeof *p->modes);
    for (size_t i = 0; i < from->mode_count; i++)
        merge_add_mode(p, from->modes[i].mode, from->modes[i].period,
                       from->modes[i].callers_period);
    if (from->longest_bytes > p->longest_bytes)
        p->longest_bytes = from->longest_bytes;
    if (from->longest_calls > p->longest_calls)
        p->longest_calls = from->longest_calls;
    // Different numbers of kept frames are not a loss, because the user requested them.
    if (from->frames_kept != 0 && (p->frames_kept == 0 || from->frames_kept < p->frames_kept))
        p->frames_kept = from->frames_kept;
}

static void
merge_recorder(struct profile_recorder *sum, const struct profile_recorder *r)
{
    sum->memory_bytes += r->memory_bytes;
    sum->file_bytes += r->file_bytes;
    if (r->limit_bytes != 0 && (sum->limit_bytes == 0 || r->limit_bytes < sum->limit_bytes))
        sum->limit_bytes = r->limit_bytes;
    sum->frames_reused += r->frames_reused;
    sum->frames_unwound += r->frames_unwound;
    sum->full_unwinds += r->full_unwinds;
    sum->events_timed += r->events_timed;
    sum->timed_ns += r->timed_ns;
    sum->overhead_ns += r->overhead_ns;
    sum->overhead_program_ns += r->overhead_program_ns;
    if (r->overhead_limit > sum->overhead_limit)
        sum->overhead_limit = r->overhead_limit;
}

static void
add_program(struct merge *m, const char *executable, uint64_t processes)
{
    struct profile *p = m->p;
    uint32_t name = strtab_id(&p->strings, executable);
    bool is_new;
    uint64_t *known = map_put(&m->programs, name, &is_new);

    if (is_new) {
        arena_grow(&p->arena, &p->programs, &m->program_capacity, p->program_count,
                   sizeof *p->programs);
        p->programs[p->program_count] =
            (struct profile_program){.executable = strtab_get(&p->strings, name)};
        *known = p->program_count++;
    }
    p->programs[*known].processes += processes;
}

/* Return A + B, saturating at UINT32_MAX. */
static uint32_t
count_sum(uint32_t a, uint32_t b)
{
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

static void
merge_programs(struct merge *m, const struct profile *from)
{
    if (from->merged_processes == 0)
        add_program(m, from->process.executable, 1);
    for (size_t i = 0; i < from->program_count; i++)
        add_program(m, from->programs[i].executable, from->programs[i].processes);
    m->p->merged_processes = count_sum(m->p->merged_processes,
                                       from->merged_processes ? from->merged_processes : 1);
    m->p->merged_damaged = count_sum(m->p->merged_damaged, from->merged_damaged);
    m->p->merged_damaged = count_sum(m->p->merged_damaged, from->damage != NULL &&
                                                               from->merged_damaged == 0 &&
                                                               from->merged_left_out == 0);
    m->p->merged_left_out = count_sum(m->p->merged_left_out, from->merged_left_out);
}

/* Return TEXT if it was the same in all processes so far, otherwise "", which means unknown. */
static const char *
common(struct merge *m, bool is_first, const char *sum, const char *text)
{
    if (is_first)
        return merge_keep(m, text);
    return strcmp(sum, text) == 0 ? sum : "";
}

static void
merge_process(struct merge *m, const struct profile *from)
{
    struct profile_process *sum = &m->p->process;
    const struct profile_process *pr = &from->process;
    bool is_first = m->p->merged_processes == 0;

    sum->command = common(m, is_first, sum->command, pr->command);
    sum->executable = common(m, is_first, sum->executable, pr->executable);
    sum->kernel = common(m, is_first, sum->kernel, pr->kernel);
    sum->heaptap = common(m, is_first, sum->heaptap, pr->heaptap);
    sum->machine = common(m, is_first, sum->machine, pr->machine);
    sum->cpu_count = is_first || sum->cpu_count == pr->cpu_count ? pr->cpu_count : 0;
    sum->page_bytes = is_first || sum->page_bytes == pr->page_bytes ? pr->page_bytes : 0;
    sum->ended = sum->ended && pr->ended;
    if (is_first && from->extent != EXTENT_WHOLE) {
        m->p->extent = from->extent;
        m->p->to = (struct profile_point){.snapshots = from->extent == EXTENT_BETWEEN,
                                          .name = "",
                                          .is_peak = from->extent == EXTENT_PEAK};
        m->p->from = (struct profile_point){.name = ""};
    }
    m->p->annotated = from->annotated && (is_first || m->p->annotated);
    if (is_first || pr->start_unix_ns < sum->start_unix_ns)
        sum->start_unix_ns = pr->start_unix_ns;
    if (time_of_end(from) > m->end_unix_ns)
        m->end_unix_ns = time_of_end(from);
    if (from->callers_period > m->p->callers_period)
        m->p->callers_period = from->callers_period;
    m->p->has_shares |= from->has_shares;
    m->p->has_callerless |= from->has_callerless;
    m->p->sample_period_bytes = is_first || m->p->sample_period_bytes == from->sample_period_bytes
                                    ? from->sample_period_bytes
                                    : 0;
    m->p->peak_elapsed_ns = is_first ? from->peak_elapsed_ns : 0;
    m->p->peak_error_bytes = counters_sum(m->p->peak_error_bytes, from->peak_error_bytes);
}

bool
merge_takes_callers(struct merge *m, const struct profile *p)
{
    for (uint32_t i = 1; i <= p->callers_period_count; i++)
        if (profile_callers_index(m->p, p->callers_periods[i]) == 0)
            return false;
    return true;
}

void
merge_add(struct merge *m, const struct profile *p)
{
    struct merge_input in = {.p = p};

    ENSURE_VALID(profile_is_valid(p));
    in.strings = arena_array(&in.arena, p->strings.count + 1, sizeof *in.strings);
    m->p->symbolised =
        m->p->merged_processes == 0 ? p->symbolised : m->p->symbolised && p->symbolised;
    merge_process(m, p);
    merge_programs(m, p);
    merge_modules(m, &in);
    merge_heaps(m, &in);
    merge_nodes(m, &in);
    merge_sites(m, &in);
    merge_backings(m, &in);
    merge_threads(m, &in);
    merge_counters(m, &in);
    merge_accesses(m, &in);
    merge_history(m, &in);
    merge_notes(m, p);
    merge_bins(m, p);
    merge_types(m, &in);
    merge_modes(m, p);
    merge_unknown_frees(m, &in);
    merge_corruptions(m, &in);
    profile_losses_add(&m->p->losses, &p->losses);
    merge_recorder(&m->p->recorder, &p->recorder);
    time_sum_add(&m->time, p);
    map_release(&in.paths);
    arena_release(&in.arena);
    ENSURE_VALID(merge_is_valid(m));
}

void
merge_keep_history(struct merge *m, uint64_t from_unix_ns, uint64_t to_unix_ns)
{
    merge_history_begin(m, from_unix_ns, to_unix_ns);
}

void
merge_left_out(struct merge *m)
{
    m->p->merged_left_out++;
}

static int
merge_by_size(const void *a, const void *b)
{
    const struct profile_type *x = a, *y = b;

    return x->size < y->size ? -1 : x->size > y->size;
}

static int
by_processes(const void *a, const void *b)
{
    const struct profile_program *x = a, *y = b;

    if (x->processes != y->processes)
        return x->processes > y->processes ? -1 : 1;
    return strcmp(x->executable, y->executable);
}

static int
by_mode(const void *a, const void *b)
{
    const struct profile_recording_mode *x = a, *y = b;

    if (x->mode != y->mode)
        return x->mode < y->mode ? -1 : 1;
    return x->period < y->period ? -1 : x->period > y->period;
}

struct profile *
merge_finish(struct merge *m)
{
    struct profile *p = m->p;

    // Types of equal size keep their order, because qsort is stable unless it lacks memory.
    if (p->type_count > 1)
        qsort(p->types, p->type_count, sizeof *p->types, merge_by_size);
    if (p->program_count > 1)
        qsort(p->programs, p->program_count, sizeof *p->programs, by_processes);
    if (p->mode_count > 1)
        qsort(p->modes, p->mode_count, sizeof *p->modes, by_mode);
    if (m->end_unix_ns > p->process.start_unix_ns)
        p->process.elapsed_ns = m->end_unix_ns - p->process.start_unix_ns;
    profile_mark_programs(p);
    time_sum_finish(&m->time, m->end_unix_ns, p);
    merge_history_finish(m);
    merge_heaps_finish(m);
    merge_corruptions_finish(m);
    merge_accesses_finish(m);
    if (p->totals.lifetimes_unknown)
        profile_clear_lifetimes(p); // Over all inputs, so that the sum does not depend on their
                                    // order.
    p->damage = profile_parts_damage(&p->arena, p->merged_damaged, p->merged_left_out);
    ENSURE_VALID(profile_is_valid(p));
    ENSURE_VALID(profile_is_writable(p));
    return p;
}

void
merge_free(struct merge *m)
{
    struct map *maps[] = {&m->modules,  &m->locations,  &m->code,        &m->nodes, &m->sites,
                          &m->threads,  &m->types,      &m->frees,       &m->heaps, &m->programs,
                          &m->backings, &m->label_sets, &m->thread_sites, &m->changes,
                          &m->accesses, &m->access_fields};

    for (size_t i = 0; i < countof(maps); i++)
        map_release(maps[i]);
    strtab_release(&m->build_ids);
    strtab_release(&m->code_names);
    strtab_release(&m->label_keys);
    profile_free(m->p);
    free(m);
}
