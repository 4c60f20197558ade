/* load.c: making sense of the tables.
 *
 * What the recorder keeps apart for speed is put together here: counters of all threads per site,
 * equal nodes that two threads added at once, the pseudo-nodes that stand for "truncated" and
 * "broken" (they become flags of the frames below them), and the attribution of the peak
 * (format.md 4.4).
 *
 * Everything is computed from one copy of the rows, so totals are the sum of what is shown, also
 * while the process is running. A copy may catch an event half applied: then a value is off by
 * that event.
 *
 * Records come from a stranger: ids are checked before use, a record that cannot be right is
 * skipped and counted, and one note per kind tells how many. What few bytes can claim over and over
 * (one string by many names, deep stacks by many sites, many frames by many locations) is bounded
 * by the size of the file.
 */
#include "profile/load.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "profile/origin.h"

enum {
    SITE_ID_MAX = 1 << 22,
    NODE_DEPTH_MAX = 2048,     // The recorder stops at half of it.
    LOCATION_FRAMES_MAX = 256, // Inlined calls at one place.
};

/* What the stacks of all sites may come to when they are written out frame by frame: this many
 * frames, and for each byte of the file that many. */
#define STACK_FRAMES_FREE ((uint64_t)1 << 20)
#define STACK_FRAMES_PER_BYTE 64

/* No sum of an estimate is larger: 2^63 bytes, squared, times the number of samples. */
#define ERROR_MAX 1e60

struct loader {
    struct raw_file *raw;
    struct profile *p;
    uint32_t *node_of; // By the file's node id: node id + 1; 0 = no such node.
    size_t disk_node_count;
    uint32_t *site_of; // By the file's site id: node * DISK_SIZE_CLASSES + class + 1.
    uint64_t site_id_end;
    size_t site_capacity;
    struct map known_nodes; // Hash of (parent, location) to node id; chained by equal_next.
    struct map known_sites; // node * 4 + class to index + 1.
    struct map known_locations;
    struct map known_strings; // Offset << 32 | bytes to string id.
    uint64_t string_bytes;    // Of known strings.
    uint32_t *depth;          // By node: nodes from the root to it.
    uint32_t *thread_of;      // By row id: index into threads + 1.
    uint32_t *thread_of_bins; // By bins index: 1 if a thread claims it.
    size_t location_capacity;
    struct map known_thread_sites;
    size_t thread_site_capacity;
};

/* The id of the string S. The recorder and pack write each string once; a file whose strings
 * overlap so much that they are longer than their table gets no more of them. */
static uint32_t
string_id(struct loader *l, struct disk_string s)
{
    bool new;
    uint64_t *known;

    if (s.bytes == 0)
        return 0;
    known = map_put(&l->known_strings, (uint64_t)s.off << 32 | s.bytes, &new);
    if (new && l->string_bytes + s.bytes <= l->raw->tables[DISK_STRINGS].size_bytes) {
        l->string_bytes += s.bytes;
        *known = strtab_id(&l->p->strings, raw_string(l->raw, s));
    }
    return (uint32_t)*known;
}

static void
load_modules(struct loader *l)
{
    size_t count = raw_count(l->raw, DISK_MODULES);
    struct profile *p = l->p;

    p->module_count = count > 1 ? count : 1;
    if (p->module_count > UINT16_MAX)
        p->module_count = UINT16_MAX;
    p->modules = arena_array(&p->arena, p->module_count, sizeof *p->modules);
    p->modules[0].path = "";
    for (size_t i = 1; i < p->module_count; i++) {
        const struct disk_module *d = raw_record(l->raw, DISK_MODULES, i);
        struct profile_module *m = &p->modules[i];

        m->path = "";
        if (d->id != i || d->start >= d->end)
            continue;
        m->start = d->start;
        m->end = d->end;
        m->bias = d->bias;
        m->path = strtab_get(&p->strings, string_id(l, d->path));
        m->unloaded = d->unloaded != 0;
        m->build_id_bytes = d->build_id_bytes <= PROFILE_BUILD_ID_MAX ? d->build_id_bytes : 0;
        memcpy(m->build_id, d->build_id, m->build_id_bytes);
    }
    while (p->module_count > 1 && p->modules[p->module_count - 1].end == 0)
        p->module_count--;
}

static uint32_t
add_location(struct loader *l, uint64_t frame, bool exact)
{
    struct profile *p = l->p;
    uint32_t module = (uint32_t)(frame >> DISK_ADDRESS_BITS);
    bool new;
    uint64_t *known = map_put(&l->known_locations, frame ^ (uint64_t)exact << 63, &new);

    if (!new)
        return (uint32_t)*known;
    *known = p->location_count;
    arena_grow(&p->arena, &p->locations, &l->location_capacity, p->location_count,
               sizeof *p->locations);
    p->locations[p->location_count] = (struct profile_location){
        .address = frame & DISK_ADDRESS_MASK,
        .module = module < p->module_count ? module : 0,
        .exact = exact,
    };
    return (uint32_t)p->location_count++;
}

/* The node for LOCATION under PARENT: the known one if there is one, else new. */
static uint32_t
add_node(struct loader *l, uint32_t parent, uint32_t location, uint32_t flags)
{
    struct profile *p = l->p;
    uint64_t key = (uint64_t)parent << 32 | location;
    bool new;
    uint64_t *known;

    // A truncated stack's outermost frame is another node than the same frame where the stack is
    // whole.
    if (flags & (NODE_TRUNCATED | NODE_BROKEN))
        key ^= hash_u64(flags);
    known = map_put(&l->known_nodes, key, &new);
    if (new) {
        *known = p->node_count;
        l->depth[p->node_count] = l->depth[parent] + 1;
        p->nodes[p->node_count++] = (struct profile_node){parent, location, flags};
    }
    return (uint32_t)*known;
}

static void
load_nodes(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_NODES);
    size_t bad = 0;

    if (count < DISK_NODE_FIRST)
        count = 0;
    l->disk_node_count = count;
    l->node_of = arena_array(&p->arena, count + 1, sizeof *l->node_of);
    l->depth = arena_array(&p->arena, count + 2, sizeof *l->depth);
    p->nodes = arena_array(&p->arena, count + 2, sizeof *p->nodes);
    p->nodes[0] = (struct profile_node){0};
    p->nodes[1] = (struct profile_node){.flags = NODE_OTHER};
    p->node_count = 2;
    l->node_of[0] = 1;
    if (count > 0)
        l->node_of[DISK_NODE_OTHER] = 2;
    for (size_t i = DISK_NODE_FIRST; i < count; i++) {
        const struct disk_node *d = raw_record(l->raw, DISK_NODES, i);
        uint32_t flags = d->flags & DISK_NODE_GUESSED ? NODE_GUESSED : 0;
        uint32_t parent, location;

        if (d->frame == 0)
            continue;
        if (d->parent == DISK_NODE_TRUNCATED || d->parent == DISK_NODE_BROKEN) {
            flags |= d->parent == DISK_NODE_TRUNCATED ? NODE_TRUNCATED : NODE_BROKEN;
            parent = 1;
        } else {
            parent = d->parent < i ? l->node_of[d->parent] : 0;
        }
        if (parent == 0 || l->depth[parent - 1] >= NODE_DEPTH_MAX) {
            bad++;
            continue;
        }
        location = add_location(l, d->frame, d->flags & DISK_NODE_EXACT);
        // What an interrupted function "called" is the trampoline of its signal handler.
        if (p->locations[p->nodes[parent - 1].location].exact)
            p->locations[location].at_start = true;
        l->node_of[i] = 1 + add_node(l, parent - 1, location, flags);
    }
    if (bad)
        raw_note(l->raw, "%zu call tree nodes have no valid parent and were skipped", bad);
}

/* The index of the site of NODE and SIZE_CLASS, added if new. */
static uint32_t
add_site(struct loader *l, uint32_t node, uint32_t size_class)
{
    struct profile *p = l->p;
    bool new;
    uint64_t *known =
        map_put(&l->known_sites, (uint64_t)node * DISK_SIZE_CLASSES + size_class, &new);

    if (new) {
        arena_grow(&p->arena, &p->sites, &l->site_capacity, p->site_count, sizeof *p->sites);
        p->sites[p->site_count] = (struct profile_site){
            .node = node, .size_class = size_class, .counters = COUNTERS_ZERO};
        *known = p->site_count++;
    }
    return (uint32_t)*known;
}

/* One more than the largest believable site id. */
static uint64_t
site_ids(const struct loader *l)
{
    uint32_t largest = 0;

    for (size_t i = 1; i < l->disk_node_count; i++) {
        const struct disk_node *d = raw_record(l->raw, DISK_NODES, i);

        for (uint32_t c = 0; c < DISK_SIZE_CLASSES; c++)
            if (d->site[c] > largest && d->site[c] < SITE_ID_MAX)
                largest = d->site[c];
    }
    return (uint64_t)largest + 1;
}

static void
load_sites(struct loader *l)
{
    size_t bad = 0;

    l->site_id_end = site_ids(l);
    l->site_of = arena_array(&l->p->arena, l->site_id_end, sizeof *l->site_of);
    for (size_t i = 1; i < l->disk_node_count; i++) {
        const struct disk_node *d = raw_record(l->raw, DISK_NODES, i);

        for (uint32_t c = 0; c < DISK_SIZE_CLASSES; c++) {
            if (d->site[c] == 0)
                continue;
            if (d->site[c] >= SITE_ID_MAX || l->node_of[i] == 0)
                bad++;
            else
                l->site_of[d->site[c]] = 1 + (l->node_of[i] - 1) * DISK_SIZE_CLASSES + c;
        }
    }
    if (bad)
        raw_note(l->raw, "%zu sites belong to no valid node and were skipped", bad);
}

static void
load_threads(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_THREADS);

    l->thread_of = arena_array(&p->arena, count + 1, sizeof *l->thread_of);
    l->thread_of_bins =
        arena_array(&p->arena, raw_count(l->raw, DISK_BINS) + 1, sizeof *l->thread_of_bins);
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
        p->losses.failed_calls += d->failed_calls;
        p->recorder.frames_reused += d->frames_reused;
        p->recorder.frames_unwound += d->frames_unwound;
        p->recorder.full_unwinds += d->full_unwinds;
        p->recorder.events_timed += d->timed_events;
        p->recorder.timed_ns += d->timed_cycles; // Cycles until load_header turns them into time.
    }
}

/* What a counter says, its share of the peak by the rule of format.md 4.4. */
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

    return memcmp(d, &zero, sizeof zero) == 0;
}

static void
add_thread_site(struct loader *l, uint32_t thread, uint32_t site, const struct counters *c)
{
    struct profile *p = l->p;
    bool new;
    uint64_t *known = map_put(&l->known_thread_sites, (uint64_t)thread << 32 | site, &new);

    if (new) {
        arena_grow(&p->arena, &p->thread_sites, &l->thread_site_capacity, p->thread_site_count,
                   sizeof *p->thread_sites);
        p->thread_sites[p->thread_site_count] =
            (struct profile_thread_site){thread, site, COUNTERS_ZERO};
        *known = p->thread_site_count++;
    }
    counters_add(&p->thread_sites[*known].counters, c);
    counters_add(&p->threads[thread].counters, c);
    counters_add(&p->sites[site].counters, c);
    counters_add(&p->totals, c);
}

/* The index of the site with the file's id ID; "other" for what belongs to none. */
static uint32_t
site_at(struct loader *l, uint64_t id, size_t *homeless)
{
    uint32_t where;
    uint32_t site;

    if (id >= l->site_id_end || l->site_of[id] == 0) {
        ++*homeless;
        return add_site(l, 1, 0);
    }
    where = l->site_of[id] - 1;
    site = add_site(l, where / DISK_SIZE_CLASSES, where % DISK_SIZE_CLASSES);
    l->p->sites[site].id = (uint32_t)id;
    return site;
}

/* The blocks of counters; returns the number of counters that belong to no site. */
static size_t
load_blocks(struct loader *l)
{
    uint64_t epoch = l->raw->header.shared.peak_epoch;
    size_t homeless = 0;

    for (size_t i = 0; i < raw_count(l->raw, DISK_COUNTERS); i++) {
        const struct disk_block *b = raw_record(l->raw, DISK_COUNTERS, i);
        uint32_t thread;

        if (b->thread == 0 || b->thread >= raw_count(l->raw, DISK_THREADS) ||
            (thread = l->thread_of[b->thread]) == 0)
            continue;
        for (uint32_t s = 0; s < DISK_BLOCK_SITES; s++) {
            uint64_t id = (uint64_t)b->first_site + s;
            struct counters c;

            if (counter_is_zero(&b->counters[s]))
                continue;
            c = read_counter(&b->counters[s], epoch);
            add_thread_site(l, thread - 1, site_at(l, id, &homeless), &c);
        }
    }
    return homeless;
}

/* X, if it is a number that an estimate may have. */
static double
believable(double x)
{
    return x > 0 && x < ERROR_MAX ? x : 0;
}

static struct error_sum
read_error(const struct disk_error_sum *d)
{
    return (struct error_sum){
        .samples = (double)d->samples,
        .blocks = (double)d->blocks,
        .bytes = (double)d->bytes,
        .blocks_variance = believable(d->blocks_variance),
        .bytes_variance = believable(d->bytes_variance),
    };
}

/* Blocks per point, if they were the smallest of SIZE_CLASS; those of the smallest class differ too
 * little to matter. By bytes a point is worth the period, which is E's bytes per point. */
static double
class_unit(const struct errors *e, uint32_t size_class)
{
    static const double smallest[DISK_SIZE_CLASSES] = {0, 33, 257, 2049};
    double unit = size_class > 0 ? e->bytes_unit_max / smallest[size_class] : 0;

    return unit > e->blocks_unit_max ? unit : e->blocks_unit_max;
}

/* What the estimates may be off by. */
static size_t
load_errors(struct loader *l)
{
    uint64_t epoch = l->raw->header.shared.peak_epoch;
    struct profile *p = l->p;
    size_t homeless = 0;

    for (size_t i = 0; i < raw_count(l->raw, DISK_ERRORS); i++) {
        const struct disk_error *d = raw_record(l->raw, DISK_ERRORS, i);
        struct profile_site *site;
        struct errors e;

        if (d->site == 0)
            continue;
        e = (struct errors){
            .allocated = read_error(&d->allocated),
            .freed = read_error(&d->freed),
            .peak = read_error(&d->peak),
            .blocks_unit_max = believable(d->blocks_unit_max),
            .bytes_unit_max = believable(d->bytes_unit_max),
        };
        if (d->peak_epoch < epoch)
            e.peak = errors_live(&e);
        site = &p->sites[site_at(l, d->site, &homeless)];
        e.blocks_unit_class = class_unit(&e, site->size_class);
        errors_add(&site->errors, &e);
        errors_add(&p->errors, &e);
    }
    return homeless;
}

static int
by_begin(const void *a, const void *b)
{
    const struct profile_phase *x = a, *y = b;

    return x->elapsed_ns < y->elapsed_ns ? -1 : x->elapsed_ns > y->elapsed_ns;
}

/* A profile of an older recorder has no phases: it is exact. */
static void
load_phases(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_PHASES);

    p->phases = arena_array(&p->arena, count + 1, sizeof *p->phases);
    p->phases[0] = (struct profile_phase){0};
    for (size_t i = 0; i < count; i++) {
        const struct disk_phase *d = raw_record(l->raw, DISK_PHASES, i);

        if (d->id == i + 1 && d->mode <= MODE_OFF)
            p->phases[p->phase_count++] =
                (struct profile_phase){d->mode, d->period, d->since_ns};
    }
    if (p->phase_count > 1)
        qsort(p->phases, p->phase_count, sizeof *p->phases, by_begin);
    p->phase_count += p->phase_count == 0;
}

static int
by_moment(const void *a, const void *b)
{
    const struct profile_mark *x = a, *y = b;

    return x->elapsed_ns < y->elapsed_ns ? -1 : x->elapsed_ns > y->elapsed_ns;
}

static void
load_marks(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_MARKS);

    p->marks = arena_array(&p->arena, count, sizeof *p->marks);
    for (size_t i = 0; i < count; i++) {
        const struct disk_mark *d = raw_record(l->raw, DISK_MARKS, i);

        if (d->elapsed_ns == 0)
            continue;
        p->marks[p->mark_count++] = (struct profile_mark){
            .elapsed_ns = d->elapsed_ns,
            .name = arena_strndup(&p->arena, d->name, strnlen(d->name, sizeof d->name)),
            .live_bytes = d->live_bytes,
            .allocations = (int64_t)d->allocations,
            .allocated_bytes = (int64_t)d->allocated_bytes,
        };
    }
    if (p->mark_count > 1)
        qsort(p->marks, p->mark_count, sizeof *p->marks, by_moment);
}

/* If more is live now than at the peak that was attributed (threads keep a little back), now is
 * the peak. */
static void
raise_peak(struct profile *p)
{
    struct counters *all[] = {&p->totals};

    if (counters_live_bytes(&p->totals) <= p->totals.peak_bytes)
        return;
    for (size_t i = 0; i < p->site_count + p->thread_count + p->thread_site_count + countof(all);
         i++) {
        size_t j = i;
        struct counters *c;

        if (j < p->site_count)
            c = &p->sites[j].counters;
        else if ((j -= p->site_count) < p->thread_count)
            c = &p->threads[j].counters;
        else if ((j -= p->thread_count) < p->thread_site_count)
            c = &p->thread_sites[j].counters;
        else
            c = all[j - p->thread_site_count];
        c->peak_bytes = counters_live_bytes(c);
        c->peak_blocks = counters_live_blocks(c);
    }
    for (size_t i = 0; i < p->site_count; i++)
        p->sites[i].errors.peak = errors_live(&p->sites[i].errors);
    p->errors.peak = errors_live(&p->errors);
}

/* Bin I of a thread's record to the profile's. */
static void
add_bin(struct profile_bin *bin, uint64_t allocations, uint64_t allocated_bytes, uint64_t frees,
        uint64_t freed_bytes)
{
    struct counters c = COUNTERS_ZERO;

    c.allocations = (int64_t)allocations;
    c.allocated_bytes = (int64_t)allocated_bytes;
    c.frees = (int64_t)frees;
    c.freed_bytes = (int64_t)freed_bytes;
    counters_add(&bin->counters, &c);
}

static void
load_bins(struct loader *l)
{
    struct profile *p = l->p;

    p->bin_count = DISK_EXACT_BINS + DISK_RANGE_BINS;
    p->bins = arena_array(&p->arena, p->bin_count, sizeof *p->bins);
    for (size_t i = 0; i < p->bin_count; i++) {
        uint32_t range = (uint32_t)(i >= DISK_EXACT_BINS ? i - DISK_EXACT_BINS : 0);

        p->bins[i].counters = COUNTERS_ZERO;
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

static int
by_time(const void *a, const void *b)
{
    const struct profile_time_point *x = a, *y = b;

    return x->elapsed_ns < y->elapsed_ns ? -1 : x->elapsed_ns > y->elapsed_ns;
}

static void
load_timeline(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_TIMELINE);
    size_t kept = 0;

    p->timeline = arena_array(&p->arena, count, sizeof *p->timeline);
    for (size_t i = 0; i < count; i++) {
        const struct disk_time_point *d = raw_record(l->raw, DISK_TIMELINE, i);

        if (d->elapsed_ns != 0)
            p->timeline[kept++] =
                (struct profile_time_point){d->elapsed_ns, d->live_bytes, d->events};
    }
    if (kept > 1)
        qsort(p->timeline, kept, sizeof *p->timeline, by_time);
    for (size_t i = 0; i < kept; i++)
        if (p->time_point_count == 0 ||
            p->timeline[p->time_point_count - 1].elapsed_ns != p->timeline[i].elapsed_ns)
            p->timeline[p->time_point_count++] = p->timeline[i];
}

static int
by_count(const void *a, const void *b)
{
    const struct profile_unknown_free *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static void
load_unknown_frees(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_UNKNOWN_FREES);

    p->unknown_frees = arena_array(&p->arena, count, sizeof *p->unknown_frees);
    for (size_t i = 1; i < count; i++) {
        const struct disk_unknown_free *d = raw_record(l->raw, DISK_UNKNOWN_FREES, i);
        bool known = d->node < l->disk_node_count && l->node_of[d->node] != 0;
        uint32_t site = d->site < l->site_id_end ? l->site_of[d->site] : 0;

        if (d->count == 0 || d->kind < FREE_FOREIGN || d->kind > FREE_INHERITED)
            continue;
        p->unknown_frees[p->unknown_free_count++] = (struct profile_unknown_free){
            .kind = d->kind,
            .node = known ? l->node_of[d->node] - 1 : 1,
            .site_node = site ? (site - 1) / DISK_SIZE_CLASSES : 0,
            .count = d->count,
            .address = d->address,
        };
    }
    if (p->unknown_free_count > 1)
        qsort(p->unknown_frees, p->unknown_free_count, sizeof *p->unknown_frees, by_count);
}

/* Losses that are known by where allocations were charged to. */
static void
count_doubtful(struct profile *p)
{
    uint32_t *path_flags = arena_array(&p->arena, p->node_count, sizeof *path_flags);

    for (size_t i = 1; i < p->node_count; i++)
        path_flags[i] = path_flags[p->nodes[i].parent] | p->nodes[i].flags;
    for (size_t i = 0; i < p->site_count; i++) {
        uint32_t flags = path_flags[p->sites[i].node];
        uint64_t allocations = (uint64_t)p->sites[i].counters.allocations;

        if (flags & NODE_OTHER)
            p->losses.other_site_events += allocations;
        if (flags & NODE_TRUNCATED)
            p->losses.truncated_stacks += allocations;
        if (flags & NODE_GUESSED)
            p->losses.guessed_frames += allocations;
        if (flags & NODE_BROKEN)
            p->losses.unwind_failures += allocations;
    }
}

/* The arguments, NUL-separated in the file, joined by blanks. */
static const char *
command_line(struct loader *l)
{
    struct disk_string s = l->raw->header.command;
    const struct raw_table *t = &l->raw->tables[DISK_STRINGS];
    char *text;

    if (s.bytes == 0 || s.off > t->size_bytes || s.bytes > t->size_bytes - s.off)
        return "";
    text = arena_strndup(&l->p->arena, (const char *)t->bytes + s.off, s.bytes);
    for (uint32_t i = 0; i + 1 < s.bytes; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    return text;
}

/* SPENT cycles in nanoseconds, when CYCLES took CLOCK_NS; 0 if that gives no believable frequency
 * (a run of less than a tick of the clock, or damage). */
static uint64_t
cycles_to_ns(uint64_t spent, uint64_t cycles, uint64_t clock_ns)
{
    double ns;

    if (cycles == 0 || clock_ns < 1000000 || clock_ns > UINT64_C(1) << 60)
        return 0;
    ns = (double)spent * ((double)clock_ns / (double)cycles);
    return ns < 1e18 ? (uint64_t)ns : 0;
}

/* How long the living process of H has been recorded; its own clock words are as old as its last
 * tick. */
static uint64_t
elapsed_now(const struct disk_header *h)
{
    struct timespec now = {0};
    uint64_t ns;

    clock_gettime(CLOCK_MONOTONIC, &now);
    ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - h->start_monotonic_ns;
    return (int64_t)ns > (int64_t)h->shared.last_ns ? ns : h->shared.last_ns;
}

static void
load_header(struct loader *l)
{
    const struct disk_header *h = &l->raw->header;
    struct profile *p = l->p;
    uint64_t clock_ns = h->last_cycles_ns - h->start_monotonic_ns;
    uint64_t cycles = h->last_cycles - h->start_cycles;

    p->process = (struct profile_process){
        .pid = h->pid,
        .parent_pid = h->parent_pid,
        .command = command_line(l),
        .executable = raw_string(l->raw, h->executable),
        .kernel = raw_string(l->raw, h->kernel),
        .heaptap = raw_string(l->raw, h->heaptap),
        .machine = h->machine == 62    ? "x86_64"
                   : h->machine == 183 ? "aarch64"
                                       : "unknown",
        .start_unix_ns = h->start_unix_ns,
        .elapsed_ns = h->shared.last_ns,
        .cpu_count = h->cpu_count,
        .page_bytes = h->page_bytes,
        .ended = h->state == DISK_STATE_PACKED ? (h->process_flags & DISK_PROCESS_GONE) != 0
                                               : !origin_process_lives(h->pid, h->process_start),
        .forked = h->process_flags & DISK_PROCESS_FORKED,
    };
    if (h->state != DISK_STATE_PACKED && !p->process.ended)
        p->process.elapsed_ns = elapsed_now(h);
    p->sample_period_bytes = h->sample_period_bytes;
    p->peak_elapsed_ns = h->shared.peak_ns;
    p->losses.no_thread_events = h->losses.no_thread_events;
    p->losses.no_memory_events += h->losses.no_memory_events;
    p->losses.frames_without_module = h->losses.frames_without_module;
    p->losses.reentrant_events += h->losses.reentrant_events;
    p->losses.events =
        p->losses.reentrant_events + p->losses.no_memory_events + p->losses.no_thread_events;
    p->losses.file_failed = h->process_flags & DISK_PROCESS_FILE_FAILED;
    p->recorder.file_bytes = l->raw->file_bytes;
    p->recorder.memory_bytes = h->recorder_bytes + l->raw->file_bytes;
    p->recorder.timed_ns = cycles_to_ns(p->recorder.timed_ns, cycles, clock_ns);
    if (p->recorder.timed_ns == 0)
        p->recorder.events_timed = 0;
}

/* Symbols that came with a packed profile. */
static void
load_symbols(struct loader *l)
{
    struct profile *p = l->p;
    size_t frame_count = raw_count(l->raw, DISK_FRAMES);
    size_t found = 0;

    for (size_t i = 0; i < raw_count(l->raw, DISK_LOCATIONS); i++) {
        const struct disk_location *d = raw_record(l->raw, DISK_LOCATIONS, i);
        uint64_t key = d->frame ^ (uint64_t)((d->flags & DISK_NODE_EXACT) != 0) << 63;
        const uint64_t *known = map_get(&l->known_locations, key);
        struct profile_location *location = known && *known != 0 ? &p->locations[*known] : NULL;

        if (location == NULL || location->frame_count != 0 || d->frame_count == 0 ||
            d->frame_count > LOCATION_FRAMES_MAX || d->first_frame > frame_count ||
            d->frame_count > frame_count - d->first_frame)
            continue;
        location->first_frame = (uint32_t)p->frame_count;
        location->frame_count = d->frame_count;
        for (uint32_t f = 0; f < d->frame_count; f++) {
            const struct disk_frame *from = raw_record(l->raw, DISK_FRAMES, d->first_frame + f);

            profile_add_frame(
                p, &(struct profile_frame){
                       .function = string_id(l, from->function),
                       .linkage = string_id(l, from->linkage),
                       .file = string_id(l, from->file),
                       .line = from->line,
                       .module = location->module,
                       .inlined = from->inlined != 0,
                   });
        }
        found++;
    }
    p->symbolised = p->location_count > 0 && found + 1 == p->location_count;
}

/* Types that came with a packed profile. */
static void
load_types(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_TYPES);
    size_t site_count = raw_count(l->raw, DISK_SITE_TYPES);

    p->types = arena_array(&p->arena, count, sizeof *p->types);
    for (size_t i = 0; i < count; i++) {
        const struct disk_type *d = raw_record(l->raw, DISK_TYPES, i);
        uint64_t last = p->type_count > 0 ? p->types[p->type_count - 1].size : 0;

        // What is not in order would not be found.
        if (d->size >= last && d->name.bytes != 0)
            p->types[p->type_count++] = (struct profile_type){d->size, string_id(l, d->name)};
    }
    for (size_t i = 0; i < site_count; i++) {
        const struct disk_site_type *d = raw_record(l->raw, DISK_SITE_TYPES, i);
        const uint64_t *site = NULL;

        if (d->site < l->site_id_end && l->site_of[d->site] != 0)
            site = map_get(&l->known_sites, l->site_of[d->site] - 1);
        if (site == NULL || d->verdict > VERDICT_CERTAIN)
            continue;
        p->sites[*site].verdict = d->verdict;
        p->sites[*site].type = string_id(l, d->type);
    }
    p->typed = count + site_count > 0;
}

/* Whether the stacks of all sites, with the frames that came with the file, are no more than a file
 * of this size can have. */
static bool
stacks_fit(const struct loader *l)
{
    const struct profile *p = l->p;
    struct arena scratch = {0};
    uint64_t *frames = arena_array(&scratch, p->node_count, sizeof *frames);
    uint64_t left = STACK_FRAMES_FREE + l->raw->file_bytes * STACK_FRAMES_PER_BYTE;
    bool fit = true;

    for (size_t i = 1; i < p->node_count; i++) {
        uint32_t own = p->locations[p->nodes[i].location].frame_count;

        frames[i] = frames[p->nodes[i].parent] + (own > 0 ? own : 1);
    }
    for (size_t i = 0; i < p->site_count && fit; i++) {
        fit = frames[p->sites[i].node] <= left;
        left -= fit ? frames[p->sites[i].node] : 0;
    }
    arena_release(&scratch);
    return fit;
}

/* The model of the profile in RAW, called NAME. What makes no sense is left out with a note. NULL
 * if the stacks are more than a real profile has. */
static struct profile *
load_model(struct raw_file *raw, const char *name)
{
    struct loader l = {.raw = raw, .p = xmalloc(sizeof *l.p)};
    struct profile *p = l.p;
    size_t homeless;
    bool fit;

    *p = (struct profile){.totals = COUNTERS_ZERO};
    p->path = arena_strdup(&p->arena, name);
    load_modules(&l);
    add_location(&l, 0, false);
    load_nodes(&l);
    load_sites(&l);
    load_threads(&l);
    homeless = load_blocks(&l);
    homeless += load_errors(&l);
    if (homeless)
        raw_note(raw, "%zu rows of counters belong to no known site; they are shown as \"other\"",
                 homeless);
    raise_peak(p);
    load_bins(&l);
    load_timeline(&l);
    load_phases(&l);
    load_marks(&l);
    load_unknown_frees(&l);
    count_doubtful(p);
    load_header(&l);
    load_symbols(&l);
    load_types(&l);
    fit = stacks_fit(&l);
    map_release(&l.known_strings);
    map_release(&l.known_nodes);
    map_release(&l.known_sites);
    map_release(&l.known_locations);
    map_release(&l.known_thread_sites);
    if (fit)
        return p;
    profile_free(p);
    return NULL;
}

int
load_bytes(const void *data, size_t size_bytes, const char *name, struct profile **ret_profile,
           struct err *err)
{
    struct arena scratch = {0};
    struct raw_file raw;
    struct profile *p = NULL;
    int r = raw_parse(data, size_bytes, name, &scratch, &raw, err);

    if (r == 0 && (p = load_model(&raw, name)) == NULL)
        r = err_set(err, HEAPTAP_BAD_INPUT,
                    "%s is damaged or made up: its stacks are more than a file of its size can "
                    "hold",
                    name);
    if (r == 0) {
        // Strings that the model took over as they are must outlive the scratch memory.
        p->process.executable = arena_strdup(&p->arena, p->process.executable);
        p->process.kernel = arena_strdup(&p->arena, p->process.kernel);
        p->process.heaptap = arena_strdup(&p->arena, p->process.heaptap);
        p->notes = arena_array(&p->arena, raw.note_count, sizeof *p->notes);
        for (size_t i = 0; i < raw.note_count; i++)
            p->notes[i] = arena_strdup(&p->arena, raw.notes[i]);
        p->note_count = raw.note_count;
        *ret_profile = p;
    }
    arena_release(&scratch);
    return r;
}

int
profile_open(const char *what, struct profile **ret_profile, struct err *err)
{
    struct arena scratch = {0};
    const char *path = what;
    const char **paths;
    size_t count, size_bytes;
    uint32_t pid;
    void *data;
    int r;

    if (origin_is_pid(what, &pid)) {
        r = origin_of_pid(pid, &scratch, &path, err);
    } else {
        r = profile_list_session(what, &scratch, &paths, &count, err);
        if (r == 0 && count > 1)
            r = err_set(err, HEAPTAP_BAD_INPUT, "%s has %zu profiles in it; name one of them", what,
                        count);
        else if (r == 0)
            path = paths[0];
    }
    if (r == 0)
        r = origin_read(path, &scratch, &data, &size_bytes, err);
    if (r == 0)
        r = load_bytes(data, size_bytes, path, ret_profile, err);
    arena_release(&scratch);
    return r;
}
