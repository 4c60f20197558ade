/* block_sizes.c: infer the sizes of blocks whose sizes only their allocator stores.
 *
 * The ledger stores the slack of a block, the difference between its usable and its requested size.
 * The usable size of a block in a dump is unknown, except for glibc's. The profile counts blocks
 * and bytes by site. So the following is known of the blocks of one site:
 *
 *     sum      live bytes of the site, minus its blocks of known size. If the profile is of another
 *              moment, the mean of all allocations of the site times the number of blocks
 *     lower    the smallest size that the site has allocated
 *     upper    the largest, or the room up to the next block, minus the slack
 *
 * The sum is shared among the blocks, those with the narrowest bounds first, so that rounding and
 * bounds do not change it. A size is exact if its bounds are equal, or if the block is the only one
 * to get the rest of an exact sum. */
#include "image/blocks.h"

#include <stdlib.h>

/* Counters of a site, and sums over its blocks in the ledger. */
struct site {
    uint64_t smallest, largest;
    uint64_t allocations, allocated_bytes;
    uint64_t live_blocks, live_bytes; // Modulo 2^64 while threads are added.
    uint64_t listed_blocks, listed_bytes;
    bool sampled;
};

/* A block of unknown size, with the smallest and the largest size that it may have. */
struct unsized {
    struct block *block;
    uint64_t lower, upper;
};

static void
collect_counters(const struct raw_file *raw, struct site *v, size_t count)
{
    for (size_t i = 0; i < raw_count(raw, DISK_COUNTERS); i++) {
        const struct disk_block *d = raw_record(raw, DISK_COUNTERS, i);

        for (size_t k = 0; d->thread != 0 && k < DISK_BLOCK_SITES; k++) {
            const struct disk_counter *c = &d->counters[k];
            size_t site = (size_t)d->first_site + k;

            if (site >= count)
                continue;
            // A thread may free blocks at a site where it has allocated none.
            v[site].live_blocks += c->allocations - c->frees;
            v[site].live_bytes += c->allocated_bytes - c->freed_bytes;
            if (c->allocations == 0 || (int64_t)c->allocations < 0)
                continue;
            if (v[site].allocations == 0 || c->size_min < v[site].smallest)
                v[site].smallest = c->size_min;
            if (c->size_max > v[site].largest)
                v[site].largest = c->size_max;
            v[site].allocations += c->allocations;
            v[site].allocated_bytes += c->allocated_bytes;
        }
    }
}

/* Add the blocks of B to their sites in V. Return the number of blocks of unknown size. */
static size_t
collect_listed(const struct blocks *b, struct site *v)
{
    size_t unsized = 0;

    for (size_t i = 0; i < b->count; i++) {
        struct site *s = &v[b->v[i].site];

        // Inherited blocks have a separate site, which the ledger does not use.
        if (b->v[i].flags & BLOCK_INHERITED)
            continue;
        s->listed_blocks++;
        s->listed_bytes += b->v[i].size_bytes;
        s->sampled |= (b->v[i].flags & (BLOCK_SAMPLE | BLOCK_CORRUPTED)) != 0;
        unsized += (b->v[i].flags & BLOCK_UNSIZED) != 0;
    }
    return unsized;
}

/* Return the bytes from BLOCK to NEXT, the next block of malloc, or to the end of its region. NEXT
 * may be NULL. */
static uint64_t
room_of(const struct memory *m, const struct block *block, const struct block *next)
{
    const struct memory_region *r = memory_region_at(m, block->address);
    uint64_t end = r != NULL ? r->end : block->address;

    if (next != NULL && next->address < end)
        end = next->address;
    return end - block->address;
}

/* Store B's blocks of unknown size in RET with their bounds, if V counts their site. Return their
 * number. */
static size_t
list_unsized(const struct memory *m, const struct blocks *b, const struct site *v,
             struct unsized *ret)
{
    const struct block *next = NULL;
    size_t count = 0;

    for (size_t i = b->count; i-- > 0;) {
        struct block *block = &b->v[i];
        const struct site *s;
        uint64_t room;

        if (block->flags & BLOCK_HOOKED)
            continue;
        room = room_of(m, block, next);
        room -= room < block->slack_bytes ? room : block->slack_bytes;
        next = block;
        if (!(block->flags & BLOCK_UNSIZED) || (s = &v[block->site])->allocations == 0)
            continue;
        ret[count] = (struct unsized){block, s->smallest, s->largest};
        if (room < s->largest)
            ret[count].upper = room > s->smallest ? room : s->smallest;
        count++;
    }
    return count;
}

static int
block_sizes_by_site(const void *a, const void *b)
{
    const struct unsized *x = a, *y = b;

    if (x->block->site != y->block->site)
        return x->block->site < y->block->site ? -1 : 1;
    if (x->upper != y->upper)
        return x->upper < y->upper ? -1 : 1;
    return x->block->address < y->block->address ? -1 : x->block->address > y->block->address;
}

/* Set the sizes of the COUNT blocks at V: all blocks of unknown size of one site, those with the
 * narrowest bounds first. Their sum is LEFT as far as the bounds allow. If IS_EXACT, LEFT is not an
 * estimate. */
static void
block_sizes_share(struct blocks *b, struct unsized *v, size_t count, uint64_t left, bool is_exact)
{
    for (size_t i = 0; i < count; i++) {
        struct block *block = v[i].block;
        uint64_t size = left / (count - i);

        if (size > v[i].upper)
            size = v[i].upper;
        if (size < v[i].lower)
            size = v[i].lower;
        block->flags &= (uint8_t)~BLOCK_UNSIZED;
        if (v[i].lower == v[i].upper || (is_exact && count == 1 && size == left))
            b->unsized--;
        else
            block->flags |= BLOCK_GUESSED;
        block->size_bytes = size;
        left -= left < size ? left : size;
    }
}

/* Return the sum of the sizes of S's COUNT blocks of unknown size. *RET_EXACT is false if the sum
 * is an estimate. */
static uint64_t
block_sizes_sum_of(const struct site *s, size_t count, bool consistent, bool *ret_exact)
{
    *ret_exact = consistent && !s->sampled && s->live_blocks == s->listed_blocks &&
                 s->live_bytes >= s->listed_bytes && s->live_bytes <= s->allocated_bytes;
    if (*ret_exact)
        return s->live_bytes - s->listed_bytes;
    return (uint64_t)((unsigned __int128)s->allocated_bytes * count / s->allocations);
}

static bool
block_sizes_is_sampled(const struct raw_file *raw)
{
    for (size_t i = 0; i < raw_count(raw, DISK_PHASES); i++) {
        const struct disk_phase *mode = raw_record(raw, DISK_PHASES, i);

        if (mode->mode == DISK_MODE_BYTES || mode->mode == DISK_MODE_COUNT)
            return true;
    }
    return false;
}

void
block_sizes_infer(const struct memory *m, const struct raw_file *raw, bool consistent,
                  struct blocks *b)
{
    size_t site_count = (size_t)CORE_SITE_MASK + 1, count, last;
    struct site *sites;
    struct unsized *v;
    uint64_t sum;
    bool is_exact;

    if (b->unsized == 0)
        return;
    // calloc leaves most pages untouched.
    sites = xcalloc(site_count, sizeof *sites);
    collect_counters(raw, sites, site_count);
    v = xcalloc(collect_listed(b, sites), sizeof *v);
    count = list_unsized(m, b, sites, v);
    if (count > 1)
        qsort(v, count, sizeof *v, block_sizes_by_site);
    for (size_t i = 0; i < count; i = last) {
        for (last = i + 1; last < count && v[last].block->site == v[i].block->site;)
            last++;
        sum = block_sizes_sum_of(&sites[v[i].block->site], last - i,
                                 consistent && !block_sizes_is_sampled(raw), &is_exact);
        block_sizes_share(b, &v[i], last - i, sum, is_exact);
    }
    free(v);
    free(sites);
}
