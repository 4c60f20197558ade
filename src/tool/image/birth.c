/* birth.c: find the time and the thread of a block's allocation, in data that exists for other
 * purposes.
 *
 * The ledger has four bytes for a block and no room for a time or a thread, and reading a clock at
 * each event would cost too much. Four sources remain, the most reliable first:
 *
 *     annotation       with `heaptap run --annotate`, the block contains time and thread
 *     latest blocks    each thread stores the keys of its latest 256 blocks to measure lifetimes.
 *                      A thread that has the block's key allocated the block, and the position of
 *                      the key gives the number of later allocations
 *     counters         each belongs to one thread and one site. If only one thread has allocated at
 *                      the block's site, or only one since the time found below, it is the thread
 *     history          the values of the counters at the snapshots. If the site had no live block
 *                      at a snapshot, the block is younger; if the site allocated nothing after
 *                      a snapshot, the block is older
 *
 * So the time of a rare allocation is known to the distance of two snapshots, which is a 128th of
 * the run or better. If a site always has live blocks and allocates often, its blocks are only
 * known to be no older than the site.
 *
 * The profile may be younger than a dump. If the site has no live block at a snapshot taken after
 * the dump, this proves nothing about the dump's blocks. And a site counts as idle since a snapshot
 * only if the profile has no later allocation of the site. The memory of a running process is read
 * before its counters are, so the same applies there.
 *
 * Error: threads detect a snapshot one after the other, within microseconds. A thread that has
 * detected it may allocate a block, and a thread that has not may free it. Then a site may look
 * empty at the snapshot although it was not. */
#include "image/examined.h"

#include <string.h>

#include "layout/annotation.h"

// No real file reaches these limits.
enum { NS = 1000000000, ROWS_MAX = 1 << 15, SNAPSHOTS_MAX = 1 << 14 };

/* Counter of a thread row at the block's site. */
struct row_counter {
    uint32_t row;
    uint32_t known; // Id of the last snapshot whose values were read.
    const struct disk_counter *now;
    uint64_t before; // Allocations at the snapshot AT of birth_walk.
};

/* The counters of one site at each snapshot, summed over all rows. */
struct past {
    const struct raw_file *raw;
    struct row_counter *rows;
    size_t row_count;
    uint32_t *row_of; // By record of COUNTERS: row index plus 1; 0 = not of this site.
    uint32_t place;   // Index of the site within such a record.
    uint32_t snapshots;
    uint64_t *allocations, *frees; // By snapshot.
    uint64_t all;                  // Allocations up to the present.
};

static bool
is_snapshot_profile(const struct raw_file *raw)
{
    for (size_t i = 0; i < raw_count(raw, DISK_NOTES); i++)
        if (((const struct disk_note *)raw_record(raw, DISK_NOTES, i))->kind == DISK_NOTE_MOMENT)
            return true;
    return false;
}

static void
find_rows(struct past *p, uint32_t site, struct arena *arena)
{
    size_t count = raw_count(p->raw, DISK_COUNTERS), capacity = 0;

    p->place = site % DISK_BLOCK_SITES;
    p->row_of = arena_array(arena, count + 1, sizeof *p->row_of);
    for (size_t i = 0; i < count && p->row_count < ROWS_MAX; i++) {
        const struct disk_block *d = raw_record(p->raw, DISK_COUNTERS, i);

        if (d->thread == 0 || d->first_site != site - p->place ||
            d->counters[p->place].allocations == 0)
            continue;
        arena_grow(arena, &p->rows, &capacity, p->row_count, sizeof *p->rows);
        p->rows[p->row_count] =
            (struct row_counter){.row = d->thread, .now = &d->counters[p->place]};
        p->row_of[i] = (uint32_t)++p->row_count;
        p->all += d->counters[p->place].allocations;
    }
}

/* Apply the values ALLOCATIONS and FREES of ROW to the snapshots from row->known + 1 to UNTIL. If
 * AT is 0, add them to the sums of these snapshots. Else store ALLOCATIONS in ROW if AT is one of
 * these snapshots. */
static void
birth_note(struct past *p, struct row_counter *row, uint32_t until, uint64_t allocations,
           uint64_t frees, uint32_t at)
{
    if (until > p->snapshots)
        until = p->snapshots;
    if (at != 0) {
        if (row->known < at && at <= until)
            row->before = allocations;
    } else {
        for (uint32_t i = row->known + 1; i <= until; i++) {
            p->allocations[i] += allocations;
            p->frees[i] += frees;
        }
    }
    row->known = until > row->known ? until : row->known;
}

static void
birth_walk(struct past *p, uint32_t at)
{
    size_t blocks = raw_count(p->raw, DISK_COUNTERS);

    for (size_t i = 0; i < p->row_count; i++)
        p->rows[i].known =
            p->rows[i].now->born < p->snapshots ? p->rows[i].now->born : p->snapshots;
    for (size_t i = 0; i < raw_count(p->raw, DISK_HISTORY); i++) {
        const struct disk_history *d = raw_record(p->raw, DISK_HISTORY, i);
        uint64_t block = d->counter / DISK_BLOCK_SITES;

        if (d->snapshot != 0 && block < blocks && p->row_of[block] != 0 &&
            d->counter % DISK_BLOCK_SITES == p->place)
            birth_note(p, &p->rows[p->row_of[block] - 1], d->snapshot, d->allocations, d->frees,
                       at);
    }
    for (size_t i = 0; i < p->row_count; i++)
        birth_note(p, &p->rows[i], p->snapshots, p->rows[i].now->allocations, p->rows[i].now->frees,
                   at);
}

/* Return the elapsed time of snapshot ID; UINT64_MAX if unknown. */
static uint64_t
birth_time_of(const struct past *p, uint32_t id)
{
    const struct disk_snapshot *d = raw_record(p->raw, DISK_SNAPSHOTS, id - 1);

    return d->elapsed_ns != 0 && d->id == id ? d->elapsed_ns - 1 : UINT64_MAX;
}

/* Bound the time of RET by the site's live blocks at the snapshots. Return the latest snapshot that
 * is certainly older than the block, or 0. */
static uint32_t
limit_time(const struct examined *e, const struct past *p, struct birth *ret)
{
    uint64_t now = birth_now(e);
    uint32_t from = 0;

    for (uint32_t i = p->snapshots; i > 0 && from == 0; i--)
        if (p->allocations[i] == p->frees[i] && birth_time_of(p, i) <= now)
            from = i;
    ret->from_ns = from != 0 ? birth_time_of(p, from) : 0;
    ret->to_ns = UINT64_MAX;
    for (uint32_t i = from + 1; i <= p->snapshots; i++)
        if (p->allocations[i] == p->all && birth_time_of(p, i) != UINT64_MAX) {
            if (birth_time_of(p, i) <= now)
                ret->to_ns = birth_time_of(p, i);
            break;
        }
    ret->has_time = from != 0 || (ret->to_ns < now && p->snapshots > 0);
    return from;
}

static const struct disk_thread *
thread_row(const struct raw_file *raw, uint32_t row)
{
    const struct disk_thread *d =
        row < raw_count(raw, DISK_THREADS) ? raw_record(raw, DISK_THREADS, row) : NULL;

    return d != NULL && d->id == row ? d : NULL;
}

static struct birth_thread
thread_of(const struct raw_file *raw, uint32_t row, struct arena *arena)
{
    const struct disk_thread *d = thread_row(raw, row);

    if (d == NULL)
        return (struct birth_thread){.name = ""};
    return (struct birth_thread){
        .tid = d->uses <= 1 ? d->tid : 0,
        .uses = d->uses,
        .name = arena_strndup(arena, d->name, strnlen(d->name, sizeof d->name)),
    };
}

/* Find time and threads by the counters of SITE, the block's site. */
static void
find_by_counters(const struct examined *e, uint32_t site, struct arena *arena, struct birth *ret)
{
    size_t snapshots = raw_count(&e->raw, DISK_SNAPSHOTS);
    struct past p = {.raw = &e->raw};
    uint32_t from;

    if (is_snapshot_profile(&e->raw) || snapshots > SNAPSHOTS_MAX)
        return;
    p.snapshots = (uint32_t)snapshots;
    find_rows(&p, site, arena);
    if (p.row_count == 0)
        return;
    p.allocations = arena_array(arena, (size_t)p.snapshots + 1, sizeof *p.allocations);
    p.frees = arena_array(arena, (size_t)p.snapshots + 1, sizeof *p.frees);
    birth_walk(&p, 0);
    from = limit_time(e, &p, ret);
    if (from != 0)
        birth_walk(&p, from);
    for (size_t i = 0; i < p.row_count; i++) {
        if (p.rows[i].now->allocations == p.rows[i].before)
            continue;
        if (ret->thread_count < BIRTH_THREADS)
            ret->threads[ret->thread_count] = thread_of(&e->raw, p.rows[i].row, arena);
        ret->thread_count++;
    }
}

/* Return false if E is a dump without thread TID. */
static bool
birth_is_present(const struct examined *e, uint32_t tid)
{
    for (size_t i = 0; i < e->memory.thread_count; i++)
        if (e->memory.threads[i].tid == tid)
            return true;
    return e->memory.lives;
}

/* Look for KEY, of a block with BIRTH, among the latest blocks of the thread whose struct is at
 * THREAD. Store the number of the thread's later allocations in *RET_LATER. Return false if KEY is
 * not there. */
static bool
find_in_thread(const struct examined *e, uint64_t thread, uint64_t key, uint8_t birth,
               uint32_t *ret_later)
{
    const struct core_record *r = &e->record;
    uint32_t apart = r->version == 1 ? 256 : CORE_BIRTHS;
    uint64_t alloc_seq, found;

    if (!memory_word(&e->memory, thread + r->alloc_seq_off, 1, &alloc_seq))
        return false;
    for (uint32_t later = (uint8_t)(alloc_seq - 1 - birth) % apart; later < 256; later += apart) {
        uint8_t place = core_recent_place(r->version, (uint8_t)(alloc_seq - 1 - later));

        if (memory_word(&e->memory, thread + r->recent_off + place * sizeof found, sizeof found,
                        &found) &&
            found == key) {
            *ret_later = later;
            return true;
        }
    }
    return false;
}

/* Find the thread whose latest blocks include B, and the number of its later allocations. Return
 * false if there is none. */
static bool
find_by_latest(const struct examined *e, const struct block *b, struct arena *arena,
               struct birth *ret)
{
    const struct core_record *r = &e->record;
    uint64_t key = core_recent_key(r->version, b->address, b->site);
    uint8_t birth;

    if (r->threads == 0 || b->flags & BLOCK_SAMPLE ||
        !blocks_birth(&e->memory, r, &e->blocks, b, &birth))
        return false;
    for (uint32_t row = 0; row < CORE_THREADS; row++) {
        const struct disk_thread *d = thread_row(&e->raw, row);
        uint64_t thread;

        if (!memory_word(&e->memory, r->threads + row * sizeof thread, sizeof thread, &thread) ||
            thread == 0 || !find_in_thread(e, thread, key, birth, &ret->later_count))
            continue;
        ret->threads[0] = thread_of(&e->raw, row, arena);
        ret->thread_count = 1;
        // Take the row's thread, unless a later thread that the dump lacks uses the row.
        if (d != NULL && birth_is_present(e, d->tid))
            ret->threads[0].tid = d->tid;
        ret->has_later = true;
        return true;
    }
    return false;
}

/* Return the name of thread TID, from ARENA; "" if unknown. */
static const char *
birth_name_of(const struct raw_file *raw, uint32_t tid, struct arena *arena)
{
    for (uint32_t i = 1; i < raw_count(raw, DISK_THREADS); i++) {
        const struct disk_thread *d = thread_row(raw, i);

        if (d != NULL && d->tid == tid)
            return arena_strndup(arena, d->name, strnlen(d->name, sizeof d->name));
    }
    return "";
}

/* Find time and thread by the annotation in front of block B. */
static void
find_by_annotation(const struct examined *e, const struct block *b, struct arena *arena,
                   struct birth *ret)
{
    uint8_t bytes[ANNOTATION_BYTES_MAX];
    const struct memory_region *region = memory_region_at(&e->memory, b->address - 1);
    uint64_t since = e->raw.header.start_monotonic_ns;
    uint64_t count = region != NULL ? b->address - region->start : 0;
    struct annotation_shape shape;
    struct annotation a;

    if (count > sizeof bytes)
        count = sizeof bytes;
    if (count == 0 || memory_read(&e->memory, b->address - count, bytes, count) < count ||
        !annotation_in_front(bytes, count, b->address, &shape, &a))
        return;
    if (shape.has_thread) {
        ret->annotated = true;
        ret->threads[0] = (struct birth_thread){
            (uint32_t)a.thread, 1, birth_name_of(&e->raw, (uint32_t)a.thread, arena)};
        ret->thread_count = 1;
    }
    // Other software that writes annotations may use another clock.
    if (shape.has_birth && a.birth >= since && a.birth - since <= birth_now(e) + NS) {
        ret->annotated = ret->has_time = true;
        ret->from_ns = ret->to_ns = a.birth - since;
    }
}

uint64_t
birth_now(const struct examined *e)
{
    uint64_t since = e->raw.header.start_monotonic_ns;

    if (!e->memory.lives)
        return e->record.last_ns;
    return e->read_ns > since ? e->read_ns - since : 0;
}

void
birth_find(const struct examined *e, const struct block *b, struct arena *arena, struct birth *ret)
{
    struct birth latest = {0};

    *ret = (struct birth){0};
    find_by_counters(e, b->site, arena, ret);
    if (find_by_latest(e, b, arena, &latest)) {
        ret->threads[0] = latest.threads[0];
        ret->thread_count = 1;
        ret->has_later = true;
        ret->later_count = latest.later_count;
    }
    find_by_annotation(e, b, arena, ret);
}
