/* profile.c: small operations on the model. load.c makes a model, pack.c writes it. */
#include "profile/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "util/path.h"

int64_t
counters_value(const struct counters *c, enum share_of what)
{
    switch (what) {
    case SHARE_ALLOCATIONS:
        return c->allocations;
    case SHARE_ALLOCATED_BYTES:
        return c->allocated_bytes;
    case SHARE_LIVE_BLOCKS:
        return counters_live_blocks(c);
    case SHARE_LIVE_BYTES:
        return counters_live_bytes(c);
    case SHARE_PEAK_BLOCKS:
        return c->peak_blocks;
    case SHARE_PEAK_BYTES:
        return c->peak_bytes;
    case SHARES:
        break;
    }
    return 0;
}

void
counters_add(struct counters *sum, const struct counters *c)
{
    sum->allocations = counters_sum(sum->allocations, c->allocations);
    sum->allocated_bytes = counters_sum(sum->allocated_bytes, c->allocated_bytes);
    sum->frees = counters_sum(sum->frees, c->frees);
    sum->freed_bytes = counters_sum(sum->freed_bytes, c->freed_bytes);
    sum->reallocations = counters_sum(sum->reallocations, c->reallocations);
    sum->moved = counters_sum(sum->moved, c->moved);
    sum->grown_bytes = counters_sum(sum->grown_bytes, c->grown_bytes);
    sum->temporary = counters_sum(sum->temporary, c->temporary);
    sum->lifetimes_unknown |= c->lifetimes_unknown;
    sum->ended_16 = sum->lifetimes_unknown ? 0 : counters_sum(sum->ended_16, c->ended_16);
    sum->ended_256 = sum->lifetimes_unknown ? 0 : counters_sum(sum->ended_256, c->ended_256);
    sum->peak_blocks = counters_sum(sum->peak_blocks, c->peak_blocks);
    sum->peak_bytes = counters_sum(sum->peak_bytes, c->peak_bytes);
    sum->partial |= c->partial;
    if (c->size_min < sum->size_min)
        sum->size_min = c->size_min;
    if (c->size_max > sum->size_max)
        sum->size_max = c->size_max;
}

void
profile_amounts_add(struct profile_amounts *sum, const struct profile_amounts *a)
{
    sum->allocations = counters_sum(sum->allocations, a->allocations);
    sum->allocated_bytes = counters_sum(sum->allocated_bytes, a->allocated_bytes);
    sum->frees = counters_sum(sum->frees, a->frees);
    sum->freed_bytes = counters_sum(sum->freed_bytes, a->freed_bytes);
}

static void
error_add(struct error_sum *sum, const struct error_sum *e)
{
    sum->samples += e->samples;
    sum->blocks += e->blocks;
    sum->bytes += e->bytes;
    sum->blocks_variance += e->blocks_variance;
    sum->bytes_variance += e->bytes_variance;
}

static void
profile_raise_to(double *largest, double x)
{
    if (x > *largest)
        *largest = x;
}

void
shares_add_counters(double sums[SHARES], const struct counters *c)
{
    for (int i = 0; i < SHARES; i++)
        sums[i] += (double)counters_value(c, (enum share_of)i);
}

void
errors_add_units(struct errors *sum, const struct errors *e)
{
    profile_raise_to(&sum->blocks_unit_max, e->blocks_unit_max);
    profile_raise_to(&sum->bytes_unit_max, e->bytes_unit_max);
    profile_raise_to(&sum->blocks_unit_few, e->blocks_unit_few);
    profile_raise_to(&sum->bytes_unit_few, e->bytes_unit_few);
}

void
errors_add_site(struct errors *sum, const struct errors *e)
{
    error_add(&sum->allocated, &e->allocated);
    error_add(&sum->freed, &e->freed);
    error_add(&sum->peak, &e->peak);
    errors_add_units(sum, e);
}

const struct errors *
errors_or_none(const struct errors *e)
{
    static const struct errors none;

    return e != NULL ? e : &none;
}

struct errors *
errors_of(struct errors **e, struct arena *arena)
{
    if (*e == NULL)
        *e = arena_alloc(arena, sizeof **e);
    return *e;
}

/* Return the variance of S's part of the open group: of a ratio of sums over a random sample. */
static double
open_variance(const struct share *s)
{
    double part = s->whole > 0 ? s->open / s->whole : 0;
    double variance = s->squares - 2 * part * s->squares + part * part * s->all_squares;

    return variance > 0 ? variance : 0;
}

double
share_variance(const struct share *s)
{
    return s->variance + open_variance(s);
}

void
errors_close(struct errors *e)
{
    for (int i = 0; i < SHARES && e->group != 0; i++) {
        struct share *s = &e->shares[i];

        s->variance = share_variance(s);
        s->estimate += s->open;
        s->bound += s->whole;
        s->left += s->open_left;
        s->open = s->whole = s->squares = s->all_squares = s->open_left = 0;
    }
    e->group = 0;
}

static void
share_add(struct share *sum, const struct share *s)
{
    sum->samples += s->samples;
    profile_raise_to(&sum->unit, s->unit);
    sum->estimate += s->estimate;
    sum->bound += s->bound;
    sum->variance += s->variance;
    sum->open += s->open;
    sum->squares += s->squares;
    sum->left += s->left;
    sum->whole = s->whole;
    sum->all_squares = s->all_squares;
    sum->open_left = s->open_left;
}

void
errors_add(struct errors *sum, const struct errors *e)
{
    if (e == NULL)
        return;
    errors_add_site(sum, e);
    sum->unbounded |= e->unbounded;
    for (int i = 0; i < SHARES; i++) {
        sum->callerless[i] += e->callerless[i];
        sum->callerless_in[i] += e->callerless_in[i];
    }
    if (e->group == 0 && e->shares[0].samples == 0)
        return;
    if (e->group != sum->group)
        errors_close(sum);
    sum->group = e->group;
    for (int i = 0; i < SHARES; i++)
        share_add(&sum->shares[i], &e->shares[i]);
}

/* Return ALLOCATED minus FREED; 0 if the difference is within the rounding error of the sums. */
static double
left(double allocated, double freed)
{
    double d = allocated - freed;

    return d > allocated * 1e-12 ? d : 0;
}

struct error_sum
errors_live(const struct errors *e)
{
    const struct error_sum *a = &e->allocated, *f = &e->freed;

    return (struct error_sum){
        .samples = left(a->samples, f->samples),
        .blocks = left(a->blocks, f->blocks),
        .bytes = left(a->bytes, f->bytes),
        .blocks_variance = left(a->blocks_variance, f->blocks_variance),
        .bytes_variance = left(a->bytes_variance, f->bytes_variance),
    };
}

struct errors
profile_missed(const struct profile *p, const struct counters *sizes)
{
    double bytes = (double)p->longest_bytes, calls = (double)p->longest_calls;
    bool known = sizes->size_min > 0 && sizes->size_min <= sizes->size_max;
    double of_bytes = bytes / (known ? (double)sizes->size_min : 1);
    double of_calls = calls * (double)sizes->size_max;
    struct errors e = {.blocks_unit_max = of_bytes > calls ? of_bytes : calls,
                       .bytes_unit_max = of_calls > bytes ? of_calls : bytes};

    e.blocks_unit_few = e.blocks_unit_max;
    e.bytes_unit_few = e.bytes_unit_max;
    return e;
}

const struct counters *
profile_row_counters(const struct profile *p, size_t row)
{
    return p->row_counters != NULL ? &p->row_counters[row]
                                   : &p->sites[p->thread_sites[row].site].counters;
}

void
profile_count(struct profile *p, size_t row, const struct counters *c)
{
    if (p->row_counters != NULL)
        counters_add(&p->row_counters[row], c);
    counters_add(&p->threads[p->thread_sites[row].thread].counters, c);
    counters_add(&p->sites[p->thread_sites[row].site].counters, c);
    counters_add(&p->totals, c);
}

const struct errors *
profile_site_errors(const struct profile *p, size_t site)
{
    return errors_or_none(site < p->site_error_capacity ? &p->site_errors[site] : NULL);
}

struct errors *
profile_change_site_errors(struct profile *p, size_t site)
{
    arena_grow(&p->arena, &p->site_errors, &p->site_error_capacity, site, sizeof *p->site_errors);
    return &p->site_errors[site];
}

uint32_t
profile_callers_index(struct profile *p, uint64_t period)
{
    static_assert(CALLERS_PERIODS_MAX == DISK_CALLERS_PERIODS + 1, "a process uses no more");
    if (period < DISK_SAMPLE_COUNT_MIN || period > DISK_CALLERS_PERIOD_MAX)
        return 0;
    for (uint32_t i = 1; i <= p->callers_period_count; i++)
        if (p->callers_periods[i] == period)
            return i;
    if (p->callers_period_count + 1 == CALLERS_PERIODS_MAX)
        return 0;
    p->callers_periods[++p->callers_period_count] = period;
    return p->callers_period_count;
}

void
profile_sum_heaps(struct profile *p)
{
    for (size_t i = 0; i < p->heap_count; i++)
        p->heaps[i].counters = p->heaps[i].backing = COUNTERS_ZERO;
    for (size_t i = 0; i < p->label_set_count; i++)
        p->label_sets[i].counters = COUNTERS_ZERO;
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *site = &p->sites[i];

        counters_add(&p->heaps[site->heap].counters, &site->counters);
        counters_add(&p->label_sets[site->labels].counters, &site->counters);
    }
    for (size_t i = 0; i < p->backing_count; i++)
        counters_add(&p->heaps[p->backings[i].heap].backing, &p->backings[i].counters);
}

static int
by_found(const void *a, const void *b)
{
    const struct profile_corruption *x = a, *y = b;

    if (x->found_ns != y->found_ns)
        return x->found_ns > y->found_ns ? 1 : -1;
    return x->address > y->address ? 1 : x->address < y->address ? -1 : 0;
}

void
profile_sort_corruptions(struct profile *p)
{
    if (p->corruption_count > 1)
        qsort(p->corruptions, p->corruption_count, sizeof *p->corruptions, by_found);
}

void
profile_clear_lifetimes(struct profile *p)
{
    counters_clear_lifetimes(&p->totals);
    for (size_t i = 0; i < p->site_count; i++)
        counters_clear_lifetimes(&p->sites[i].counters);
    for (size_t i = 0; i < p->thread_count; i++)
        counters_clear_lifetimes(&p->threads[i].counters);
    for (size_t i = 0; i < p->thread_site_count && p->row_counters != NULL; i++)
        counters_clear_lifetimes(&p->row_counters[i]);
    for (size_t i = 0; i < p->backing_count; i++)
        counters_clear_lifetimes(&p->backings[i].counters);
    for (size_t i = 0; i < p->label_set_count; i++)
        counters_clear_lifetimes(&p->label_sets[i].counters);
    for (size_t i = 0; i < p->heap_count; i++) {
        counters_clear_lifetimes(&p->heaps[i].counters);
        counters_clear_lifetimes(&p->heaps[i].backing);
    }
}

/* Return the id of FRAME's module and file, if it is of a local function; else 0. */
static uint32_t
home_of(struct profile *p, const struct profile_frame *frame)
{
    uint64_t *home;

    if (!frame->local || frame->file == 0)
        return 0;
    home = map_put(&p->homes, (uint64_t)frame->module << 32 | frame->file, NULL);
    if (*home == 0)
        *home = p->homes.count;
    return (uint32_t)*home;
}

void
profile_add_frame(struct profile *p, const struct profile_frame *frame)
{
    arena_grow(&p->arena, &p->frames, &p->frame_capacity, p->frame_count, sizeof *p->frames);
    p->frames[p->frame_count] = *frame;
    p->frames[p->frame_count++].home = home_of(p, frame);
}

void
profile_set_file(struct profile *p, uint32_t frame, uint32_t file)
{
    p->frames[frame].file = file;
    p->frames[frame].home = home_of(p, &p->frames[frame]);
}

const char *
profile_parts_damage(struct arena *arena, uint32_t damaged, uint32_t left_out)
{
    const char *has = "", *lacks = "";

    if (damaged == 0 && left_out == 0)
        return NULL;
    if (damaged > 0)
        has = arena_printf(arena, "has %" PRIu32 " damaged profile%s in it%s", damaged,
                           damaged == 1 ? "" : "s", left_out > 0 ? " and " : "");
    if (left_out > 0)
        lacks = arena_printf(arena, "lacks %" PRIu32 " profile%s that could not be read", left_out,
                             left_out == 1 ? "" : "s");
    return arena_printf(arena, "%s%s", has, lacks);
}

const char *
profile_title(const struct profile *p, struct arena *arena)
{
    const struct profile_process *pr = &p->process;
    const char *what;

    if (p->merged_processes == 0)
        return pr->command && *pr->command ? pr->command : pr->executable;
    if (p->program_count != 1)
        what = arena_printf(arena, "%zu programs", p->program_count);
    else if (*pr->command != '\0')
        what = pr->command;
    else
        what = *p->programs[0].executable ? p->programs[0].executable : "an unknown program";
    return arena_printf(arena, "merged from %" PRIu32 " process%s of %s", p->merged_processes,
                        p->merged_processes == 1 ? "" : "es", what);
}

const char *
profile_pid_text(const struct profile *p, struct arena *arena)
{
    const struct profile_process *pr = &p->process;

    return pr->pid_here == 0 ? arena_printf(arena, "%" PRIu32, pr->pid)
                             : arena_printf(arena, "%" PRIu32 " (%" PRIu32 " in its namespace)",
                                            pr->pid_here, pr->pid);
}

bool
profile_is_program(const struct profile *p, uint32_t module)
{
    const struct profile_module *m = &p->modules[module];

    return m->is_program ||
           (p->process.executable != NULL && strcmp(p->process.executable, m->path) == 0);
}

bool
profile_is_recorder(const char *path)
{
    static const char prefix[] = "libheaptap";

    return strncmp(path_basename(path), prefix, sizeof prefix - 1) == 0;
}

void
profile_mark_programs(struct profile *p)
{
    struct map programs = {0}; // The key is the address of the name, because names are interned.

    for (size_t i = 0; i < p->program_count; i++)
        if (*p->programs[i].executable != '\0')
            map_put(&programs, (uintptr_t)p->programs[i].executable, NULL);
    for (size_t i = 1; i < p->module_count; i++)
        p->modules[i].is_program = map_get(&programs, (uintptr_t)p->modules[i].path) != NULL;
    map_release(&programs);
}

void
profile_losses_add(struct profile_losses *sum, const struct profile_losses *l)
{
    sum->events += l->events;
    sum->reentrant_events += l->reentrant_events;
    sum->no_memory_events += l->no_memory_events;
    sum->no_thread_events += l->no_thread_events;
    sum->early_events += l->early_events;
    sum->heap_events += l->heap_events;
    sum->unseen_allocators += l->unseen_allocators;
    sum->ledger_events += l->ledger_events;
    sum->other_site_events += l->other_site_events;
    sum->label_sets += l->label_sets;
    sum->shortened_stacks += l->shortened_stacks;
    sum->truncated_stacks += l->truncated_stacks;
    sum->guessed_frames += l->guessed_frames;
    sum->frames_without_module += l->frames_without_module;
    sum->unwind_failures += l->unwind_failures;
    sum->ends_without_table += l->ends_without_table;
    sum->unknown_frees += l->unknown_frees;
    sum->double_frees += l->double_frees;
    sum->unrecorded_frees += l->unrecorded_frees;
    sum->inherited_frees += l->inherited_frees;
    sum->overwritten_blocks += l->overwritten_blocks;
    sum->lost_sizes += l->lost_sizes;
    sum->failed_calls += l->failed_calls;
    sum->history_records += l->history_records;
    sum->damaged_blocks += l->damaged_blocks;
    sum->other_site_bytes += l->other_site_bytes;
    sum->shortened_bytes += l->shortened_bytes;
    sum->truncated_bytes += l->truncated_bytes;
    sum->broken_bytes += l->broken_bytes;
    sum->runtime_left_out = sum->runtime_left_out || l->runtime_left_out;
    sum->file_failed = sum->file_failed || l->file_failed;
    sum->reserved = sum->reserved || l->reserved;
}

uint64_t
profile_corruptions(const struct profile_losses *l)
{
    bool certain = l->events == 0 && l->ledger_events == 0;

    return l->damaged_blocks + (certain ? l->double_frees : 0);
}

void
profile_free(struct profile *p)
{
    if (p == NULL)
        return;
    strtab_release(&p->strings);
    map_release(&p->homes);
    arena_release(&p->arena);
    free(p);
}

bool
profile_has_threads(const struct profile *p)
{
    uint64_t threads = 0;

    for (size_t i = 0; i < p->thread_count; i++)
        threads += p->threads[i].uses; // Threads of one name share an entry.
    return threads > 1;
}
