/* access_sites.c: rate each stack by the accesses to its blocks.
 *
 * The rate is accesses per byte and second of lifetime, because raw counts mostly reflect size and
 * age. A table that is read a million times is hotter than a log with as many accesses and a
 * thousand times the size. A temporary block is not cold merely because it was freed soon.
 *
 * Hot: the stacks with most accesses that together have ACCESS_HOT_SHARE of the total. Stacks whose
 * rate is below the average are excluded, because their size alone explains their accesses. Cold: a
 * rate below 1/ACCESS_COLD_TIMES of the average. Both are relative to this profile. They show where
 * the program spends its accesses, not whether it spends many.
 *
 * The verdict "never" requires that all code that may use the blocks is counted. An uncounted
 * library or an uncounted function of libc may have used any of them.
 *
 * A reallocated block without reads does not count as unread: its data moved to the new block,
 * which may be read. If both blocks have the same stack, the reads of that stack decide.
 *
 * A block that libc allocates for its private use looks unused, because accesses inside libc are
 * not counted. Such blocks are not reported.
 *
 * A block whose allocation time is unknown has no lifetime and gets the mean lifetime of its stack.
 * If no block of a stack has a lifetime, there is no rate, and the number of accesses alone ranks
 * the stack. */
#include "analyse/access_sites.h"

#include <stdlib.h>

#include "analyse/user_code.h"

#define US_PER_S 1e6

enum { WORD_BYTES = 8 };

/* Return the size of A's blocks in bytes times their lifetime in seconds, 0 if no lifetime is
 * known. A lifetime too short to measure counts as a microsecond. */
static double
byte_seconds_of(const struct profile_access *a)
{
    double blocks = (double)a->blocks, dated = (double)a->dated;
    double life_us = (double)a->lifetime_us.total;

    if (a->blocks == 0 || a->dated == 0)
        return 0;
    if (life_us < dated)
        life_us = dated;
    return (double)a->size_bytes.total / blocks * (life_us / US_PER_S) * (blocks / dated);
}

/* Return true if each touched 8-byte word had one access, on average. */
static bool
is_touched_once(const struct profile_access *a)
{
    uint64_t touched = a->size_bytes.total - a->untouched_bytes;

    return a->accesses.total <= touched / WORD_BYTES + a->blocks;
}

/* Return true if a library that the user does not build allocated the blocks of S. */
static bool
is_unseen(const struct user_code *own, const struct stack *s)
{
    return s->depth > 0 && own->kinds[own->p->frames[s->frames[0]].module] != CODE_USER;
}

static enum access_verdict
verdict_of(const struct profile *p, const struct user_code *own, const struct access_row *r)
{
    const struct profile_access *a = &r->a;
    double run_us = (double)p->process.elapsed_ns / 1000;
    bool lives_long = a->dated > 0 && run_us > 0 &&
                      (double)a->lifetime_us.total / (double)a->dated >= run_us / 2;

    if (a->accesses.total == 0)
        return is_unseen(own, r->stack) ? ACCESS_UNSEEN
               : a->unproven            ? ACCESS_NOT_SEEN
                                        : ACCESS_NEVER;
    if (p->accesses.separate && access_write_only_blocks(a) + a->never >= a->blocks)
        return a->unproven ? ACCESS_NOT_SEEN_READ : ACCESS_WRITE_ONLY;
    if (is_touched_once(a))
        return ACCESS_ONCE;
    if (a->untouched_bytes > a->size_bytes.total / 2)
        return ACCESS_MOSTLY_UNUSED;
    if (r->heat == HEAT_HOT)
        return (double)a->size_bytes.total / (double)a->blocks <= ACCESS_SMALL_BYTES
                   ? ACCESS_HOT_SMALL
                   : ACCESS_HOT;
    if (r->heat == HEAT_COLD)
        return lives_long ? ACCESS_COLD_LONG : ACCESS_COLD;
    return ACCESS_USED;
}

static int
access_sites_by_accesses(const void *left, const void *right)
{
    const struct access_row *a = left, *b = right;

    if (a->a.accesses.total != b->a.accesses.total)
        return a->a.accesses.total > b->a.accesses.total ? -1 : 1;
    if (a->a.size_bytes.total != b->a.size_bytes.total)
        return a->a.size_bytes.total > b->a.size_bytes.total ? -1 : 1;
    return a->a.site < b->a.site ? -1 : a->a.site > b->a.site;
}

/* Sum the counts of the sites by stack, into T. */
static void
access_sites_collect(const struct profile *p, const struct stacks *stacks, struct arena *arena,
                     struct access_table *t)
{
    // By stack: index of the row plus 1; 0 = none.
    size_t *row_of = arena_array(arena, stacks->count, sizeof *row_of);

    t->v = arena_array(arena, stacks->count, sizeof *t->v);
    for (size_t i = 0; i < p->accesses.count; i++) {
        const struct profile_access *a = &p->accesses.v[i];
        const struct profile_site *site = &p->sites[a->site];
        uint32_t stack = stacks->site_stacks[a->site];
        struct access_row *r;

        if (stack == 0)
            continue;
        if (row_of[stack - 1] == 0) {
            row_of[stack - 1] = ++t->count;
            r = &t->v[t->count - 1];
            *r = (struct access_row){.stack = &stacks->v[stack - 1],
                                     .a = ACCESS_NONE,
                                     .type = site->type,
                                     .type_verdict = site->verdict};
            r->a.site = a->site;
        }
        r = &t->v[row_of[stack - 1] - 1];
        if (r->type != site->type)
            r->type = 0;
        if (site->verdict < r->type_verdict)
            r->type_verdict = site->verdict;
        access_add(&r->a, a);
        access_add(&t->total, a);
    }
    if (t->count > 1)
        qsort(t->v, t->count, sizeof *t->v, access_sites_by_accesses);
}

static void
access_sites_measure(struct access_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        struct access_row *r = &t->v[i];
        double accesses = (double)r->a.accesses.total;

        r->byte_seconds = byte_seconds_of(&r->a);
        t->byte_seconds += r->byte_seconds;
        if (r->a.size_bytes.total > 0)
            r->per_byte = accesses / (double)r->a.size_bytes.total;
        if (r->byte_seconds > 0)
            r->rate = accesses / r->byte_seconds;
    }
    if (t->byte_seconds > 0)
        t->rate = (double)t->total.accesses.total / t->byte_seconds;
}

void
access_build(const struct profile *p, const struct stacks *stacks, struct arena *arena,
             struct access_table *ret)
{
    double before = 0; // Accesses of the rows before this one.
    struct user_code own;

    user_code_init(&own, p, arena);
    *ret = (struct access_table){.total = ACCESS_NONE};
    access_sites_collect(p, stacks, arena, ret);
    access_sites_measure(ret);
    for (size_t i = 0; i < ret->count; i++) {
        struct access_row *r = &ret->v[i];
        double accesses = (double)r->a.accesses.total;
        bool has_rate = r->byte_seconds > 0;

        r->heat = HEAT_WARM;
        if (accesses == 0 || (has_rate && r->rate * ACCESS_COLD_TIMES < ret->rate))
            r->heat = HEAT_COLD;
        else if (before < (double)ret->total.accesses.total * ACCESS_HOT_SHARE &&
                 (!has_rate || r->rate >= ret->rate))
            r->heat = HEAT_HOT;
        before += accesses;
        if (r->heat == HEAT_HOT) {
            ret->hot_count++;
            ret->hot_accesses += r->a.accesses.total;
            ret->hot_byte_seconds += r->byte_seconds;
        }
        r->verdict = verdict_of(p, &own, r);
        if (r->verdict == ACCESS_UNSEEN) {
            ret->unseen_count++;
            ret->unseen_bytes += r->a.size_bytes.total;
        }
    }
}

uint64_t
access_write_only_blocks(const struct profile_access *a)
{
    uint64_t unread = a->write_only + a->regrown;

    // If no block was read or moved to another stack, reallocated blocks were only written as well.
    return a->writes.total >= a->accesses.total && unread + a->never >= a->blocks ? unread
                                                                                 : a->write_only;
}

uint64_t
access_unread_bytes(const struct profile_access *a)
{
    if (a->blocks == 0)
        return 0;
    return (uint64_t)((double)a->size_bytes.total / (double)a->blocks *
                      ((double)a->never + (double)access_write_only_blocks(a)));
}

static bool
access_sites_is_picked(const struct access_row *r, enum access_pick pick)
{
    switch (pick) {
    case ACCESS_PICK_ALL:
        return true;
    case ACCESS_PICK_HOT:
        return r->heat == HEAT_HOT;
    case ACCESS_PICK_COLD:
        return r->heat == HEAT_COLD && r->verdict != ACCESS_UNSEEN;
    case ACCESS_PICK_NEVER:
        return (r->a.never > 0 || r->a.write_only > 0) && r->verdict != ACCESS_UNSEEN;
    }
    return false;
}

/* Compare by position, so that rows with equal keys stay sorted by accesses. */
static int
access_sites_by_place(const struct access_row *a, const struct access_row *b)
{
    return a < b ? -1 : a > b;
}

static int
by_byte_seconds(const void *left, const void *right)
{
    const struct access_row *a = *(const struct access_row *const *)left;
    const struct access_row *b = *(const struct access_row *const *)right;

    if (a->byte_seconds != b->byte_seconds)
        return a->byte_seconds > b->byte_seconds ? -1 : 1;
    return access_sites_by_place(a, b);
}

static int
by_unread(const void *left, const void *right)
{
    const struct access_row *a = *(const struct access_row *const *)left;
    const struct access_row *b = *(const struct access_row *const *)right;
    uint64_t x = access_unread_bytes(&a->a), y = access_unread_bytes(&b->a);

    if (x != y)
        return x > y ? -1 : 1;
    return access_sites_by_place(a, b);
}

const struct access_row **
access_picked(const struct access_table *t, enum access_pick pick, struct arena *arena,
              size_t *ret_count)
{
    const struct access_row **v = arena_array(arena, t->count, sizeof *v);
    size_t count = 0;

    for (size_t i = 0; i < t->count; i++)
        if (access_sites_is_picked(&t->v[i], pick))
            v[count++] = &t->v[i];
    if (count > 1 && pick == ACCESS_PICK_COLD)
        qsort(v, count, sizeof *v, by_byte_seconds);
    if (count > 1 && pick == ACCESS_PICK_NEVER)
        qsort(v, count, sizeof *v, by_unread);
    *ret_count = count;
    return v;
}
