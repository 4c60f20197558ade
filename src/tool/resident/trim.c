/* trim.c: the memory that glibc's malloc could return to the kernel.
 *
 * malloc_trim(0) first merges the chunks in fastbins with their free neighbours. Then it returns
 * (glibc's functions mtrim and systrim):
 *
 *     a free chunk        the whole pages between the head of the chunk and its end
 *     the main arena's    the whole pages above the least size of a chunk
 *     top
 *     another top         nothing; but once the blocks before it are freed, free returns what they
 *                         add to a large top (heap_trim)
 *
 * Chunks in the caches of threads are not merged, so they count as used. To find out what a site
 * keeps, the same sum is made as if its blocks were free. A sum for each site would take too long.
 * A site is a candidate if groups of adjacent blocks are all its own, each between free chunks:
 * the pages that become free with such a group can be added up in one pass. */
#include "resident/trim.h"

#include <stdlib.h>

enum {
    CHUNK_HEAD_BYTES = 48, // Bytes at the beginning of a free chunk that glibc needs itself.
    TOP_LEAST = 32 + 1,
    CANDIDATES = 16,
};

/* A sum over runs of free chunks. */
struct run {
    struct page_map *pages;
    uint64_t start; // Of the current run; 0 = none.
    uint64_t bytes;
};

static uint64_t
page_up(uint64_t address)
{
    return (address + PAGE_MAP_PAGE_BYTES - 1) & -(uint64_t)PAGE_MAP_PAGE_BYTES;
}

static uint64_t
page_down(uint64_t address)
{
    return address & -(uint64_t)PAGE_MAP_PAGE_BYTES;
}

/* Return the bytes that a free chunk from START to END would return. */
static uint64_t
free_chunk_bytes(struct page_map *pages, uint64_t start, uint64_t end)
{
    uint64_t first = page_up(start + CHUNK_HEAD_BYTES), last = page_down(end);

    return first < last ? page_map_resident(pages, first, last) : 0;
}

/* Return the bytes that the main arena's top from START to END would return. */
static uint64_t
top_bytes(struct page_map *pages, uint64_t start, uint64_t end)
{
    uint64_t size = end - start;

    return size > TOP_LEAST ? page_map_resident(pages, end - page_down(size - TOP_LEAST), end) : 0;
}

/* Return the bytes that the free end of EXTENT would return: from START on, with TOP. */
static uint64_t
end_bytes(struct page_map *pages, const struct glibc_extent *extent, uint64_t start,
          const struct glibc_chunk *top)
{
    return extent->is_main ? top_bytes(pages, start, top->address + top->size_bytes)
                           : free_chunk_bytes(pages, start, top->address);
}

static bool
is_free(enum glibc_chunk_kind kind)
{
    return kind == GLIBC_FREE || kind == GLIBC_FASTBIN;
}

uint64_t
trim_bytes(struct page_map *pages, const struct glibc_heap *heap,
           const struct glibc_extent *extent, const uint32_t *sites, uint32_t freed_site)
{
    uint64_t start = 0, sum = 0, end = 0;

    for (size_t i = 0; i < extent->chunk_count; i++) {
        const struct glibc_chunk *c = &heap->chunks[extent->first_chunk + i];
        uint32_t site = sites[extent->first_chunk + i];

        end = c->address + c->size_bytes;
        if (c->kind == GLIBC_TOP)
            return sum + end_bytes(pages, extent, start ? start : c->address, c);
        if (is_free(c->kind) || (site != 0 && site == freed_site)) {
            start = start ? start : c->address;
            continue;
        }
        if (start != 0)
            sum += free_chunk_bytes(pages, start, c->address);
        start = 0;
    }
    return sum + (start != 0 ? free_chunk_bytes(pages, start, end) : 0);
}

/* --- Pins --------------------------------------------------------------------------------- */

/* Adjacent used chunks, and the free chunks on both sides. */
struct group {
    uint64_t before, start, end; // `before`: start of the free chunks before the group.
    uint32_t site;               // Site of all its blocks; 0 = several, or unknown ones.
};

/* Add the pages that become free with G, a group in EXTENT, to the sum of its site. Free chunks up
 * to BEHIND follow G. TOP is the last of these, or NULL. */
static void
add_group(struct page_map *pages, uint64_t *gains, const struct glibc_extent *extent,
          const struct group *g, uint64_t behind, const struct glibc_chunk *top)
{
    uint64_t now, then;

    if (g->site == 0)
        return;
    now = g->before < g->start ? free_chunk_bytes(pages, g->before, g->start) : 0;
    now += top != NULL ? end_bytes(pages, extent, g->end, top)
                       : free_chunk_bytes(pages, g->end, behind);
    then = top != NULL ? end_bytes(pages, extent, g->before, top)
                       : free_chunk_bytes(pages, g->before, behind);
    if (then > now)
        gains[g->site] += then - now;
}

/* Add the gains of all groups in EXTENT to GAINS, by site. */
static void
collect_gains(struct page_map *pages, const struct glibc_heap *heap,
              const struct glibc_extent *extent, const uint32_t *sites, uint64_t *gains)
{
    struct group g = {0};
    bool in_group = false, closed = false; // closed: free chunks follow the group.
    uint64_t free_from = 0, last_end = 0;

    for (size_t i = 0; i <= extent->chunk_count; i++) {
        const struct glibc_chunk *c = &heap->chunks[extent->first_chunk + i];
        bool ends = i == extent->chunk_count;
        bool is_top = !ends && c->kind == GLIBC_TOP;

        if (!ends && (is_free(c->kind) || is_top)) {
            closed |= in_group;
            free_from = free_from ? free_from : c->address;
            if (is_top && in_group)
                add_group(pages, gains, extent, &g, c->address, c);
            if (is_top)
                return;
            last_end = c->address + c->size_bytes;
            continue;
        }
        if (in_group && (closed || ends))
            add_group(pages, gains, extent, &g, ends ? last_end : c->address, NULL);
        if (ends)
            return;
        if (!in_group || closed) {
            g = (struct group){.before = free_from ? free_from : c->address,
                               .start = c->address,
                               .site = sites[extent->first_chunk + i]};
            in_group = true;
            closed = false;
        }
        free_from = 0;
        g.end = last_end = c->address + c->size_bytes;
        if (g.site != sites[extent->first_chunk + i])
            g.site = 0;
    }
}

/* Insert PIN into RET, whose COUNT entries have most returned bytes first. Keep at most MAX. Return
 * their number. */
static size_t
trim_insert(struct trim_pin *ret, size_t count, size_t max, struct trim_pin pin)
{
    size_t at = count;

    while (at > 0 && ret[at - 1].returned_bytes < pin.returned_bytes) {
        if (at < max)
            ret[at] = ret[at - 1];
        at--;
    }
    if (at < max)
        ret[at] = pin;
    return count < max ? count + 1 : max;
}

static uint64_t
trim_all(struct page_map *pages, const struct glibc_heap *heap, const uint32_t *sites,
         uint32_t freed_site)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < heap->extent_count; i++)
        sum += trim_bytes(pages, heap, &heap->extents[i], sites, freed_site);
    return sum;
}

size_t
trim_find_pins(struct page_map *pages, const struct glibc_heap *heap, const uint32_t *sites,
               const struct blocks *blocks, struct trim_pin ret[TRIM_PINS_MAX])
{
    const uint64_t now = trim_all(pages, heap, sites, 0);
    struct trim_pin candidates[CANDIDATES];
    uint32_t largest = 0;
    uint64_t *gains;
    size_t count = 0, found = 0;

    for (size_t i = 0; i < heap->chunk_count; i++)
        if (sites[i] > largest)
            largest = sites[i];
    gains = xcalloc((size_t)largest + 1, sizeof *gains);
    for (size_t i = 0; i < heap->extent_count; i++)
        collect_gains(pages, heap, &heap->extents[i], sites, gains);
    for (uint32_t i = 1; i <= largest; i++)
        if (gains[i] != 0)
            count = trim_insert(candidates, count, CANDIDATES,
                           (struct trim_pin){.site = i, .returned_bytes = gains[i]});
    free(gains);
    for (size_t i = 0; i < count; i++) {
        struct trim_pin *p = &candidates[i];
        uint64_t then = trim_all(pages, heap, sites, p->site);

        p->returned_bytes = then > now ? then - now : 0;
        for (size_t k = 0; k < heap->chunk_count; k++)
            p->blocks += sites[k] == p->site && heap->chunks[k].kind == GLIBC_USED;
        for (size_t k = 0; k < blocks->count; k++)
            if (blocks->v[k].site == p->site && !(blocks->v[k].flags & BLOCK_HOOKED))
                p->bytes += blocks->v[k].size_bytes;
        found = trim_insert(ret, found, TRIM_PINS_MAX, *p);
    }
    return found;
}
