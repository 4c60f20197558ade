/* records.c: the records of sites, in ACCESS and FIELDS.
 *
 * A stack has a site and a site has a number, so a record is found by index. Records are never
 * removed. They are in the file, where a reader can watch them grow. Rejected: a table of fixed
 * size, indexed by a hash of the stack, as in the proposal of 2020. There a new stack evicts an old
 * one, whose values are printed and must be added up later.
 *
 * Additions are plain with one thread, and atomic from the second on. In that case a minimum, a
 * maximum and the data of the latest block may come from different threads; each value is correct
 * by itself. */
#include "access/records.h"

#include <string.h>

#include "access/counter_overflow.h"
#include "access/shadow.h"
#include "account/account_state.h"
#include "account/file.h"
#include "ledger/ledger_entry.h"

/* --- Finding ---------------------------------------------------------------------------------- */

static inline void *
record_at(enum disk_kind kind, uint32_t index_plus_1)
{
    return table_record(&state->tables[kind], index_plus_1 - 1);
}

static void
empty_spread(struct disk_spread *s)
{
    *s = (struct disk_spread){.min = UINT64_MAX};
}

/* Reset R to a record without blocks. No other thread may be reading it. */
static void
empty_access(struct disk_access *r)
{
    memset(&r->merge, 0, sizeof *r - offsetof(struct disk_access, merge));
    empty_spread(&r->accesses);
    empty_spread(&r->writes);
    empty_spread(&r->size_bytes);
    empty_spread(&r->lifetime_us);
    empty_spread(&r->utilised);
    empty_spread(&r->density);
    empty_spread(&r->lifetime_density);
}

static void
empty_fields(struct disk_fields *f)
{
    f->merge = 0;
    memset(f->fields, 0, sizeof f->fields);
}

static COLD struct disk_access *
make_access(uint32_t *place, uint32_t site, enum disk_access_part part)
{
    uint64_t made = table_take(&state->tables[DISK_ACCESS], 1);
    uint32_t known = 0;
    struct disk_access *r;

    if (made == TABLE_NONE)
        return NULL;
    r = table_record(&state->tables[DISK_ACCESS], made);
    r->part = part;
    empty_access(r);
    if (!cas_acq_rel(place, &known, (uint32_t)made + 1))
        return record_at(DISK_ACCESS, known);
    store_release(&r->site, site);
    return r;
}

/* Return the record of PART of SITE. Create it if it is missing; return NULL if there is no
 * memory. */
static inline struct disk_access *
records_access_of(uint32_t site, enum disk_access_part part)
{
    uint32_t *place = &access_state->sites[site].record[part];
    uint32_t known = load_acquire(place);

    return likely(known != 0) ? record_at(DISK_ACCESS, known) : make_access(place, site, part);
}

static COLD struct access_runs *
make_runs(uint32_t *place)
{
    uint32_t made = add_relaxed(&access_state->runs_used, 1u) + 1, known = 0;

    if (made >= ACCESS_FIELD_SITES)
        return NULL;
    return &access_state->runs[cas_acq_rel(place, &known, made) ? made : known];
}

static COLD struct disk_fields *
make_fields(uint32_t *place, uint32_t site, enum disk_access_part part, uint32_t first)
{
    uint64_t made = table_take(&state->tables[DISK_FIELDS], 1);
    uint32_t known = 0;
    struct disk_fields *f;

    if (made == TABLE_NONE)
        return NULL;
    f = table_record(&state->tables[DISK_FIELDS], made);
    f->part = part;
    f->first = first;
    if (!cas_acq_rel(place, &known, (uint32_t)made + 1))
        return record_at(DISK_FIELDS, known);
    store_release(&f->site, site);
    return f;
}

static inline struct access_runs *
runs_of(uint32_t site, enum disk_access_part part)
{
    uint32_t *place = &access_state->sites[site].runs[part];
    uint32_t known = load_acquire(place);

    return likely(known != 0) ? &access_state->runs[known] : make_runs(place);
}

static inline struct disk_fields *
fields_of(struct access_runs *runs, uint32_t site, enum disk_access_part part, uint32_t first)
{
    uint32_t *place = &runs->record[first / DISK_FIELD_WORDS];
    uint32_t known = load_acquire(place);

    return likely(known != 0) ? record_at(DISK_FIELDS, known)
                              : make_fields(place, site, part, first);
}

/* --- Blocks ----------------------------------------------------------------------------------- */

/* The value of one counter. `writes` is 0 unless reads and writes are counted separately. */
struct count {
    uint64_t accesses, writes;
};

static INLINE struct count
count_of(const uint64_t *counter, bool separate)
{
    uint64_t c = load_relaxed(counter), writes;

    if (!separate)
        return (struct count){.accesses = c};
    writes = (c >> 32) + counter_overflow_of(shadow_half(counter, SHADOW_WRITE));
    return (struct count){
        (uint32_t)c + counter_overflow_of(shadow_half(counter, SHADOW_READ)) + writes, writes};
}

/* Sum the N counters at COUNTER into B. */
static INLINE void
read_counters(struct access_block *b, const uint64_t *counter, uint64_t n, bool separate)
{
    uint64_t accesses = 0, writes = 0, touched = 0;

    for (uint64_t i = 0; i < n; i++) {
        struct count c = count_of(&counter[i], separate);

        accesses += c.accesses;
        writes += c.writes;
        touched += c.accesses != 0;
    }
    b->accesses = accesses;
    b->writes = writes;
    b->touched_granules = touched;
}

void
records_read(struct access_block *b)
{
    uint64_t granule = shadow.granule_bytes, n = shadow_granules(b->p, b->size_bytes);
    const uint64_t *counter = shadow_counter(b->p);
    uint64_t untouched_bytes;

    if (shadow.separate)
        read_counters(b, counter, n, true);
    else
        read_counters(b, counter, n, false);
    b->granules = n;
    untouched_bytes = (n - b->touched_granules) * granule;
    if (n > 0 && counter[n - 1] == 0) // Exclude the bytes after the block's end,
        untouched_bytes -= (0 - (b->p + b->size_bytes)) & (granule - 1);
    if (n > 0 && counter[0] == 0) // and the bytes before its start.
        untouched_bytes -= b->p & (granule - 1);
    b->untouched_bytes = untouched_bytes;
}

static inline void
lower(uint64_t *p, uint64_t v)
{
    uint64_t current = load_relaxed(p);

    while (v < current && !cas_acq_rel(p, &current, v))
        continue;
}

static inline void
raise(uint64_t *p, uint64_t v)
{
    uint64_t current = load_relaxed(p);

    while (v > current && !cas_acq_rel(p, &current, v))
        continue;
}

/* Like access_add; ALONE is true if the process has one thread. Functions with a parameter ALONE
 * are inline, so that the compiler specialises both cases. */
static INLINE void
records_add_word(uint64_t *p, uint64_t v, bool alone)
{
    if (alone)
        bump_by(p, v);
    else if (v != 0)
        add_relaxed(p, v);
}

static INLINE void
spread_add(struct disk_spread *s, uint64_t v, bool alone)
{
    records_add_word(&s->total, v, alone);
    if (unlikely(v < load_relaxed(&s->min)))
        lower(&s->min, v);
    if (unlikely(v > load_relaxed(&s->max)))
        raise(&s->max, v);
}

static inline uint64_t
density_of(const struct access_block *b)
{
    return b->accesses * 100 / (b->size_bytes > 0 ? b->size_bytes : 1);
}

static inline uint64_t
lifetime_density_of(const struct access_block *b)
{
    uint64_t ms = b->lifetime_us / 1000;

    return density_of(b) * 1000 / (ms > 0 ? ms : 1);
}

static inline uint64_t
utilised_of(const struct access_block *b)
{
    return b->granules > 0 ? b->touched_granules * 10000 / b->granules : 0;
}

/* Add the times and cpus of B to R. BEFORE has those of the previous block; count an overlap and
 * equal cpus. */
static INLINE void
add_dates(struct disk_access *r, const struct disk_access *before, const struct access_block *b,
          bool alone)
{
    uint64_t alloc_us = clock_us(&access_state->cycle_clock, b->began);
    uint64_t dealloc_us = alloc_us + b->lifetime_us;
    uint32_t alloc_cpu = clock_cpu(b->began), dealloc_cpu = clock_cpu(b->ended);

    spread_add(&r->lifetime_us, b->lifetime_us, alone);
    spread_add(&r->lifetime_density, lifetime_density_of(b), alone);
    records_add_word(&r->migrated, alloc_cpu != dealloc_cpu, alone);
    if (load_relaxed(&before->dated) != 0) {
        records_add_word(&r->overlaps, alloc_us < load_relaxed(&before->dealloc_us) &&
                                     load_relaxed(&before->alloc_us) < dealloc_us, alone);
        records_add_word(&r->same_alloc_cpu, alloc_cpu == load_relaxed(&before->alloc_cpu), alone);
        records_add_word(&r->same_dealloc_cpu, dealloc_cpu == load_relaxed(&before->dealloc_cpu),
                         alone);
    }
    records_add_word(&r->dated, 1, alone);
    store_relaxed(&r->alloc_us, alloc_us);
    store_relaxed(&r->dealloc_us, dealloc_us);
    store_relaxed(&r->alloc_cpu, alloc_cpu);
    store_relaxed(&r->dealloc_cpu, dealloc_cpu);
}

static inline bool
is_unread(const struct access_block *b)
{
    return b->writes != 0 && b->writes == b->accesses;
}

static inline bool
is_write_only(const struct access_block *b)
{
    return !b->moved && is_unread(b);
}

static INLINE void
records_add_block(struct disk_access *r, const struct disk_access *before,
                  const struct access_block *b, bool alone)
{
    records_add_word(&r->blocks, 1, alone);
    spread_add(&r->accesses, b->accesses, alone);
    if (unlikely(shadow.separate)) {
        spread_add(&r->writes, b->writes, alone);
        records_add_word(&r->write_only, is_write_only(b), alone);
    }
    spread_add(&r->size_bytes, b->size_bytes, alone);
    spread_add(&r->utilised, utilised_of(b), alone);
    spread_add(&r->density, density_of(b), alone);
    records_add_word(&r->granules, b->granules, alone);
    records_add_word(&r->touched_granules, b->touched_granules, alone);
    records_add_word(&r->untouched_bytes, b->untouched_bytes, alone);
    records_add_word(&r->never, b->accesses == 0, alone);
    if (likely(b->dated))
        add_dates(r, before, b, alone);
}

/* Add the counts of the first COUNT granules to F, multiplied by N: 1 to add, -1 to subtract. */
static INLINE void
add_fields(struct disk_fields *f, const uint64_t *counter, uint64_t count, uint64_t n, bool alone)
{
    for (uint64_t i = 0; i < count; i++) {
        struct count c = count_of(&counter[i], shadow.separate);

        records_add_word(&f->fields[i].reached, n, alone);
        if (c.accesses == 0)
            continue;
        records_add_word(&f->fields[i].accesses, c.accesses * n, alone);
        records_add_word(&f->fields[i].writes, c.writes * n, alone);
        records_add_word(&f->fields[i].blocks, n, alone);
    }
}

static INLINE bool
add_all_fields(const struct access_block *b, uint32_t site, enum disk_access_part part,
               uint64_t merge, uint64_t n, bool alone)
{
    const uint64_t *counter = shadow_counter(b->p);
    uint64_t left = b->granules < ACCESS_WORDS_MAX ? b->granules : ACCESS_WORDS_MAX;
    struct access_runs *runs = runs_of(site, part);

    if (runs == NULL)
        return false;
    for (uint32_t first = 0; left > 0; first += DISK_FIELD_WORDS) {
        uint64_t count = left < DISK_FIELD_WORDS ? left : DISK_FIELD_WORDS;
        struct disk_fields *f = fields_of(runs, site, part, first);

        if (f == NULL)
            return false;
        if (unlikely(merge != f->merge)) {
            empty_fields(f);
            store_release(&f->merge, merge);
        }
        add_fields(f, counter + first, count, n, alone);
        left -= count;
    }
    return true;
}

static INLINE void
records_add_one(const struct access_block *b, uint32_t site, enum disk_access_part part,
                uint64_t merge, bool alone)
{
    struct disk_access *r = records_access_of(site, part), *before = r;

    if (unlikely(r == NULL)) {
        access_add(&access_counting()->unmerged_blocks, 1);
        return;
    }
    if (unlikely(merge != 0)) {
        if (r->merge != merge) {
            empty_access(r);
            store_release(&r->merge, merge);
        }
        if (r->dated == 0 && access_state->sites[site].record[DISK_ACCESS_ENDED] != 0)
            before = records_access_of(site, DISK_ACCESS_ENDED);
    }
    records_add_block(r, before, b, alone);
    if (unlikely(!b->dated))
        access_add(&access_counting()->undated_blocks, 1);
    if (unlikely(!add_all_fields(b, site, part, merge, 1, alone)))
        access_add(&access_counting()->unfielded_blocks, 1);
}

static NOINLINE void
add_among_others(const struct access_block *b, uint32_t site, enum disk_access_part part,
                 uint64_t merge)
{
    records_add_one(b, site, part, merge, false);
}

void
records_add(const struct access_block *b, uint32_t site, enum disk_access_part part, uint64_t merge)
{
    if (likely(!load_relaxed(&state->multi)))
        records_add_one(b, site, part, merge, true);
    else
        add_among_others(b, site, part, merge);
}

COLD void
records_take_back(const struct access_block *b, uint32_t site, enum disk_access_part part)
{
    struct disk_access *r = records_access_of(site, part);

    if (r == NULL)
        return;
    access_add(&r->blocks, UINT64_MAX);
    access_add(&r->accesses.total, 0 - b->accesses);
    access_add(&r->writes.total, 0 - b->writes);
    access_add(&r->write_only, 0 - (uint64_t)is_write_only(b));
    access_add(&r->size_bytes.total, 0 - b->size_bytes);
    access_add(&r->utilised.total, 0 - utilised_of(b));
    access_add(&r->density.total, 0 - density_of(b));
    access_add(&r->granules, 0 - b->granules);
    access_add(&r->touched_granules, 0 - b->touched_granules);
    access_add(&r->untouched_bytes, 0 - b->untouched_bytes);
    access_add(&r->never, 0 - (uint64_t)(b->accesses == 0));
    if (b->dated) {
        access_add(&r->dated, UINT64_MAX);
        access_add(&r->lifetime_us.total, 0 - b->lifetime_us);
        access_add(&r->lifetime_density.total, 0 - lifetime_density_of(b));
        access_add(&r->migrated, 0 - (uint64_t)(clock_cpu(b->began) != clock_cpu(b->ended)));
    }
    add_all_fields(b, site, part, 0, UINT64_MAX, false);
}

COLD void
records_regrow(const struct access_block *b, uint32_t site, enum disk_access_part part)
{
    struct disk_access *r = is_unread(b) ? records_access_of(site, part) : NULL;

    if (r != NULL)
        access_add(&r->regrown, 1);
}

COLD void
records_end_moved(const struct access_block *b, uint32_t site, enum disk_access_part part)
{
    struct disk_access *r = is_unread(b) ? records_access_of(site, part) : NULL;

    if (r != NULL)
        access_add(&r->write_only, 1);
}

/* --- All of them ------------------------------------------------------------------------------ */

static void
flush_word(uint64_t *to, uint64_t *from)
{
    access_add(to, __atomic_exchange_n(from, UINT64_C(0), __ATOMIC_RELAXED));
}

static void
flush_spread(struct disk_spread *to, struct disk_spread *from)
{
    flush_word(&to->total, &from->total);
    lower(&to->min, from->min);
    raise(&to->max, from->max);
    empty_spread(from);
}

static void
flush_access(struct disk_access *to, struct disk_access *from)
{
    flush_word(&to->blocks, &from->blocks);
    flush_spread(&to->accesses, &from->accesses);
    flush_spread(&to->writes, &from->writes);
    flush_spread(&to->size_bytes, &from->size_bytes);
    flush_spread(&to->lifetime_us, &from->lifetime_us);
    flush_spread(&to->utilised, &from->utilised);
    flush_spread(&to->density, &from->density);
    flush_spread(&to->lifetime_density, &from->lifetime_density);
    flush_word(&to->granules, &from->granules);
    flush_word(&to->touched_granules, &from->touched_granules);
    flush_word(&to->untouched_bytes, &from->untouched_bytes);
    flush_word(&to->never, &from->never);
    flush_word(&to->write_only, &from->write_only);
    flush_word(&to->regrown, &from->regrown);
    flush_word(&to->migrated, &from->migrated);
    flush_word(&to->overlaps, &from->overlaps);
    flush_word(&to->same_alloc_cpu, &from->same_alloc_cpu);
    flush_word(&to->same_dealloc_cpu, &from->same_dealloc_cpu);
    if (from->dated != 0 && from->dealloc_us >= to->dealloc_us) {
        to->alloc_us = from->alloc_us;
        to->dealloc_us = from->dealloc_us;
        to->alloc_cpu = from->alloc_cpu;
        to->dealloc_cpu = from->dealloc_cpu;
    }
    flush_word(&to->dated, &from->dated);
}

static void
flush_fields(struct access_runs *to_runs, struct access_runs *from_runs, uint32_t site)
{
    for (uint32_t i = 0; i < ACCESS_RUNS; i++) {
        uint32_t known = load_acquire(&from_runs->record[i]);
        struct disk_fields *from, *to;

        if (known == 0)
            continue;
        from = record_at(DISK_FIELDS, known);
        to = fields_of(to_runs, site, DISK_ACCESS_ENDED, from->first);
        for (uint32_t j = 0; to != NULL && j < DISK_FIELD_WORDS; j++) {
            flush_word(&to->fields[j].accesses, &from->fields[j].accesses);
            flush_word(&to->fields[j].writes, &from->fields[j].writes);
            flush_word(&to->fields[j].blocks, &from->fields[j].blocks);
            flush_word(&to->fields[j].reached, &from->fields[j].reached);
        }
    }
}

static uint32_t
site_count(void)
{
    uint64_t sites = load_relaxed(&account_state()->sites);

    return sites <= LIMIT_SITES ? (uint32_t)sites : LIMIT_SITES + 1;
}

void
records_flush(enum disk_access_part part)
{
    for (uint32_t site = 1; site < site_count(); site++) {
        struct access_site *s = &access_state->sites[site];
        uint32_t record = load_acquire(&s->record[part]), runs = load_acquire(&s->runs[part]);
        struct disk_access *to = record != 0 ? records_access_of(site, DISK_ACCESS_ENDED) : NULL;
        struct access_runs *to_runs = runs != 0 ? runs_of(site, DISK_ACCESS_ENDED) : NULL;

        if (to != NULL)
            flush_access(to, record_at(DISK_ACCESS, record));
        if (to_runs != NULL)
            flush_fields(to_runs, &access_state->runs[runs], site);
    }
}

void
records_reset(void)
{
    for (uint32_t site = 1; site < site_count(); site++) {
        for (uint32_t part = 0; part < DISK_ACCESS_PARTS; part++) {
            struct access_site *s = &access_state->sites[site];
            uint32_t record = load_acquire(&s->record[part]), runs = load_acquire(&s->runs[part]);

            if (record != 0)
                empty_access(record_at(DISK_ACCESS, record));
            for (uint32_t i = 0; runs != 0 && i < ACCESS_RUNS; i++)
                if (access_state->runs[runs].record[i] != 0)
                    empty_fields(record_at(DISK_FIELDS, access_state->runs[runs].record[i]));
        }
    }
}
