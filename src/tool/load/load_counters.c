/* load_counters.c: combine the counters of all threads.
 *
 * A counter of the file belongs to one thread and one site. Its numbers are read once and added to
 * the pair, the thread, the site and the totals, so a total is the sum of the shown values, even
 * while the process runs. Blocks that back a heap are counted separately. Section 4.4 of format.md
 * defines a counter's share of the peak.
 *
 * A counter with an invalid site is added to "other", so totals are right even if the tree is
 * damaged. A counter with an unknown thread is skipped, because each number must belong to a
 * thread. The numbers of both kinds are noted (load.c). */
#include "load/loader.h"

#include <string.h>

void
load_threads(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_THREADS);

    l->thread_of = arena_array(&l->scratch, count + 1, sizeof *l->thread_of);
    l->thread_of_bins =
        arena_array(&l->scratch, raw_count(l->raw, DISK_BINS) + 1, sizeof *l->thread_of_bins);
    p->threads = arena_array(&p->arena, count + 1, sizeof *p->threads);
    for (size_t i = 1; i < count; i++) {
        const struct disk_thread *d = raw_record(l->raw, DISK_THREADS, i);
        struct profile_thread *t = &p->threads[p->thread_count];

        if (d->id != i)
            continue;
        t->name = arena_strndup(&p->arena, d->name, strnlen(d->name, sizeof d->name));
        t->tid = d->tid;
        t->uses = d->uses;
        t->counters = COUNTERS_ZERO;
        if (d->bins < raw_count(l->raw, DISK_BINS))
            l->thread_of_bins[d->bins] = 1;
        l->thread_of[i] = (uint32_t)++p->thread_count;
        p->losses.reentrant_events += d->reentrant_events;
        p->losses.no_memory_events += d->no_memory_events;
        p->losses.ledger_events += d->ledger_events;
        p->losses.unknown_frees += d->unknown_frees;
        p->losses.double_frees += d->double_frees;
        p->losses.inherited_frees += d->inherited_frees;
        p->losses.unrecorded_frees += d->unrecorded_frees;
        p->losses.overwritten_blocks += d->overwritten_blocks;
        p->losses.lost_sizes += d->lost_sizes;
        p->losses.failed_calls += d->failed_calls;
        p->recorder.frames_reused += d->frames_reused;
        p->recorder.frames_unwound += d->frames_unwound;
        p->recorder.full_unwinds += d->full_unwinds;
        p->recorder.events_timed += d->timed_events;
        // The value is in cycles until load_header converts it to time.
        p->recorder.timed_ns += d->timed_cycles;
    }
}

/* Return the values of a counter, and its share of the peak by the rule of format.md 4.4. */
static struct counters
read_counter(const struct disk_counter *d, uint64_t epoch)
{
    struct counters c = {
        .allocations = (int64_t)d->allocations,
        .allocated_bytes = (int64_t)d->allocated_bytes,
        .frees = (int64_t)d->frees,
        .freed_bytes = (int64_t)d->freed_bytes,
        .reallocations = (int64_t)d->reallocations,
        .moved = (int64_t)d->moved,
        .grown_bytes = (int64_t)d->grown_bytes,
        .temporary = (int64_t)d->temporary,
        .ended_16 = (int64_t)d->ended_16,
        .ended_256 = (int64_t)d->ended_256,
        .peak_blocks = d->peak_blocks,
        .peak_bytes = d->peak_bytes,
        .size_min = d->allocations ? d->size_min : SIZE_MIN_NONE,
        .size_max = d->size_max,
    };

    if (d->peak_epoch < epoch) {
        c.peak_blocks = counters_live_blocks(&c);
        c.peak_bytes = counters_live_bytes(&c);
    }
    return c;
}

static bool
counter_is_zero(const struct disk_counter *d)
{
    static const struct disk_counter zero;

    return d->allocations == 0 && memcmp(d, &zero, sizeof zero) == 0;
}

/* Return the number of counters in B that are not zero. */
static size_t
count_used(const struct disk_block *b)
{
    size_t used = 0;

    for (uint32_t s = 0; s < DISK_BLOCK_SITES; s++)
        used += !counter_is_zero(&b->counters[s]);
    return used;
}

/* Append a row for THREAD at SITE and return its index. */
static uint32_t
append_row(struct loader *l, uint32_t thread, uint32_t site)
{
    struct profile *p = l->p;
    size_t row = p->thread_site_count++;

    arena_grow(&p->arena, &p->thread_sites, &l->thread_site_capacity, row,
               sizeof *p->thread_sites);
    p->thread_sites[row] = (struct profile_thread_site){thread, site};
    if (!l->one_thread) {
        arena_grow(&p->arena, &p->row_counters, &l->row_capacity, row, sizeof *p->row_counters);
        p->row_counters[row] = COUNTERS_ZERO;
    }
    return (uint32_t)row;
}

/* Add C to the row of THREAD at SITE. Return the row's index. */
static uint32_t
add_thread_site(struct loader *l, uint32_t thread, uint32_t site, const struct counters *c)
{
    struct profile *p = l->p;
    bool new = site == p->thread_site_count; // With one thread, rows are numbered like sites.
    uint64_t row = site, *known = &row;

    if (!l->one_thread)
        known = map_put(&l->known_thread_sites, (uint64_t)thread << 32 | site, &new);
    if (new)
        *known = append_row(l, thread, site);
    profile_count(p, *known, c);
    return (uint32_t)*known;
}

/* Reserve space for COUNT blocks. Maps are sized to their contents. Arrays are sized to an upper
 * bound, without reading the blocks: their unused part costs address space but no memory. */
static void
expect(struct loader *l, size_t count)
{
    struct profile *p = l->p;
    size_t used = 0;

    if (l->one_thread)
        used = l->site_id_end < count * DISK_BLOCK_SITES ? l->site_id_end
                                                         : count * DISK_BLOCK_SITES;
    for (size_t i = 0; i < count && !l->one_thread; i++)
        used += count_used(raw_record(l->raw, DISK_COUNTERS, i));
    loader_expect_sites(l, used);
    if (!l->one_thread) {
        map_reserve(&l->known_thread_sites, used);
        arena_grow(&p->arena, &p->row_counters, &l->row_capacity, used, sizeof *p->row_counters);
    }
    arena_grow(&p->arena, &p->thread_sites, &l->thread_site_capacity, used,
               sizeof *p->thread_sites);
}

size_t
load_blocks(struct loader *l)
{
    uint64_t epoch = l->raw->header.shared.peak_epoch;
    size_t threads = raw_count(l->raw, DISK_THREADS);
    size_t orphaned = 0, count = raw_count(l->raw, DISK_COUNTERS);

    expect(l, count);
    l->thread_site_of =
        arena_array(&l->scratch, count * DISK_BLOCK_SITES, sizeof *l->thread_site_of);
    for (size_t i = 0; i < count; i++) {
        const struct disk_block *b = raw_record(l->raw, DISK_COUNTERS, i);
        uint32_t thread = b->thread < threads ? l->thread_of[b->thread] : 0;

        if (thread == 0) {
            if (b->thread != 0)
                l->threadless += count_used(b);
            continue;
        }
        for (uint32_t s = 0; s < DISK_BLOCK_SITES; s++) {
            uint64_t id = (uint64_t)b->first_site + s;
            struct profile_backing *backing;
            struct counters c;

            if (counter_is_zero(&b->counters[s]))
                continue;
            c = read_counter(&b->counters[s], epoch);
            backing = loader_backing_at(l, id);
            if (backing != NULL)
                counters_add(&backing->counters, &c);
            else
                l->thread_site_of[i * DISK_BLOCK_SITES + s] =
                    1 + add_thread_site(l, thread - 1, loader_site_at(l, id, &orphaned), &c);
        }
    }
    return orphaned;
}

void
loader_raise_peak(struct profile *p)
{
    size_t rows = p->row_counters != NULL ? p->thread_site_count : 0;
    struct counters *all[] = {&p->totals};

    if (counters_live_bytes(&p->totals) <= p->totals.peak_bytes)
        return;
    for (size_t i = 0; i < p->site_count + p->thread_count + rows + countof(all); i++) {
        size_t j = i;
        struct counters *c;

        if (j < p->site_count)
            c = &p->sites[j].counters;
        else if ((j -= p->site_count) < p->thread_count)
            c = &p->threads[j].counters;
        else if ((j -= p->thread_count) < rows)
            c = &p->row_counters[j];
        else
            c = all[j - rows];
        c->peak_bytes = counters_live_bytes(c);
        c->peak_blocks = counters_live_blocks(c);
    }
    for (size_t i = 0; i < p->backing_count; i++) {
        struct counters *c = &p->backings[i].counters;

        c->peak_bytes = counters_live_bytes(c);
        c->peak_blocks = counters_live_blocks(c);
    }
    for (size_t i = 0; i < p->site_count && p->site_errors != NULL; i++) {
        struct errors *e = profile_change_site_errors(p, i);

        e->peak = errors_live(e);
    }
    p->errors.peak = errors_live(&p->errors);
}

/* Return true if several threads were recorded; they may have used one row, one after another. */
static bool
had_threads(const struct profile *p)
{
    return p->thread_count > 1 || (p->thread_count == 1 && p->threads[0].uses > 1);
}

/* Return the maximum error of the peak for files without bound_bytes, from older recorders: for
 * each process 64 KiB or a 1024th of its peak, whichever is more; for a process with one thread,
 * 0. For a merge, an upper bound of their sum. */
static int64_t
old_error(const struct profile *p)
{
    int64_t fixed = (int64_t)64 << 10, share = p->totals.peak_bytes / 1024;

    if (!had_threads(p) && p->merged_processes <= 1)
        return 0;
    if (p->merged_processes > 1)
        return counters_sum(fixed * p->merged_processes, share);
    return share > fixed ? share : fixed;
}

void
loader_bound_peak(struct loader *l)
{
    const struct disk_header *h = &l->raw->header;
    struct profile *p = l->p;
    int64_t error = old_error(p);

    if (h->compatible & DISK_COMPATIBLE_BOUND)
        error = h->shared.bound_bytes > p->totals.peak_bytes
                    ? counters_sum(h->shared.bound_bytes, -p->totals.peak_bytes)
                    : 0;
    p->peak_error_bytes = error > 0 ? error : 0;
}

void
loader_decide_lifetimes(struct loader *l)
{
    const struct profile *p = l->p;
    bool known = l->raw->header.compatible & DISK_COMPATIBLE_LIVES;

    // When some calls are not recorded, it is unknown how many lie between an allocation and its
    // free.
    for (size_t i = 0; i < p->mode_count; i++)
        known = known && (p->modes[i].mode == MODE_EXACT || p->modes[i].mode == MODE_OFF);
    if (!known)
        profile_clear_lifetimes(l->p);
}

/* Add a bin of a thread's record to the profile's bin. */
static void
add_bin(struct profile_bin *bin, uint64_t allocations, uint64_t allocated_bytes, uint64_t frees,
        uint64_t freed_bytes)
{
    struct counters c = COUNTERS_ZERO;

    if ((allocations | allocated_bytes | frees | freed_bytes) == 0) // Nearly all bins are empty.
        return;
    c.allocations = (int64_t)allocations;
    c.allocated_bytes = (int64_t)allocated_bytes;
    c.frees = (int64_t)frees;
    c.freed_bytes = (int64_t)freed_bytes;
    counters_add(&bin->counters, &c);
}

void
load_bins(struct loader *l)
{
    struct profile *p = l->p;

    p->bin_count = DISK_EXACT_BINS + DISK_RANGE_BINS;
    p->bins = arena_array(&p->arena, p->bin_count, sizeof *p->bins);
    for (size_t i = 0; i < p->bin_count; i++) {
        uint32_t range = (uint32_t)(i >= DISK_EXACT_BINS ? i - DISK_EXACT_BINS : 0);

        p->bins[i].counters = COUNTERS_ZERO;
        counters_clear_lifetimes(&p->bins[i].counters);
        p->bins[i].size_min =
            i < DISK_EXACT_BINS ? i : (UINT64_C(1) << (DISK_RANGE_FIRST_BIT + range)) + 1;
        p->bins[i].size_max =
            i < DISK_EXACT_BINS ? i : UINT64_C(1) << (DISK_RANGE_FIRST_BIT + range + 1);
    }
    p->bins[p->bin_count - 1].size_max = UINT64_MAX;
    for (size_t i = 0; i < raw_count(l->raw, DISK_BINS); i++) {
        const struct disk_bins *d = raw_record(l->raw, DISK_BINS, i);

        if (!l->thread_of_bins[i])
            continue;
        for (size_t b = 0; b < DISK_EXACT_BINS; b++)
            add_bin(&p->bins[b], d->exact[b].allocations, d->exact[b].allocations * b,
                    d->exact[b].frees, d->exact[b].frees * b);
        for (size_t b = 0; b < DISK_RANGE_BINS; b++)
            add_bin(&p->bins[DISK_EXACT_BINS + b], d->range[b].allocations,
                    d->range[b].allocated_bytes, d->range[b].frees, d->range[b].freed_bytes);
    }
}

/* Count the losses at SITE that follow from FLAGS, the flags of its stack. */
static void
count_uncertain(struct profile *p, const struct profile_site *site, uint32_t flags)
{
    uint64_t allocations = (uint64_t)site->counters.allocations;
    uint64_t bytes = (uint64_t)site->counters.allocated_bytes;

    if (flags & NODE_OTHER) {
        p->losses.other_site_events += allocations;
        p->losses.other_site_bytes += bytes;
    }
    if (flags & NODE_SHORTENED) {
        p->losses.shortened_stacks += allocations;
        p->losses.shortened_bytes += bytes;
    } else if ((flags & NODE_TRUNCATED) && p->frames_kept == 0) {
        p->losses.truncated_stacks += allocations;
        p->losses.truncated_bytes += bytes;
    }
    if (flags & NODE_GUESSED)
        p->losses.guessed_frames += allocations;
    if (flags & NODE_BROKEN) {
        p->losses.unwind_failures += allocations;
        p->losses.broken_bytes += bytes;
    }
    if (flags & NODE_NO_TABLE)
        p->losses.ends_without_table += allocations;
}

void
loader_count_uncertain(struct profile *p)
{
    struct arena scratch = {0};
    // One byte each, because there may be hundreds of thousands of nodes.
    uint8_t *path_flags = NULL;
    uint32_t any = 0;

    static_assert((NODE_GUESSED | NODE_TRUNCATED | NODE_BROKEN | NODE_SHORTENED | NODE_OTHER |
                   NODE_NO_TABLE) <= UINT8_MAX,
                  "all flags in a byte");
    for (size_t i = 2; i < p->node_count; i++)
        any |= p->nodes[i].flags;
    // If no node has a flag, every stack is whole, and only sites without a stack cause losses.
    if (any != 0) {
        path_flags = arena_array(&scratch, p->node_count, sizeof *path_flags);
        for (size_t i = 1; i < p->node_count; i++)
            path_flags[i] = (uint8_t)(path_flags[p->nodes[i].parent] | p->nodes[i].flags);
    }
    for (size_t i = 0; i < p->site_count; i++) {
        uint32_t node = p->sites[i].node;

        if (path_flags != NULL || node == 1)
            count_uncertain(p, &p->sites[i],
                            path_flags != NULL ? path_flags[node] : p->nodes[node].flags);
    }
    arena_release(&scratch);
}
