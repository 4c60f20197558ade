/* annex.c: code of an attached recorder beside functions that are far from its library.
 *
 * A jump of five bytes reaches 2 GiB. The program lies far from its libraries, so it does not reach
 * a region near libc. Each group of such functions gets an annex, some pages nearby. It has the
 * trampolines, whose branches must reach the function, and relays, jumps over any distance:
 *
 *     program                   annex                              region, near libc
 *     malloc: jmp ───────────►  relay: jmp *address ────────────►  library
 *     rest of malloc ◄────────  trampoline ◄─────────────────────  (a pointer in the request)
 *
 * An annex never lies behind the heap, which grows there by brk. */
#include "attach/annex.h"

#include "util/ensure.h"

enum { PLACE_BYTES = TRAMPOLINE_BYTES + RELAY_BYTES };

/* Return the address of free memory of SIZE_BYTES near ADDRESS that no other annex takes. */
static uint64_t
find_gap(const struct places *p, uint64_t address, uint64_t size_bytes)
{
    const struct target *t = p->target;
    const struct target_map *map = target_map_at(t, address);
    uint64_t gap;

    if (map == NULL)
        return 0;
    gap = target_gap(t, map->start, map->end, size_bytes);
    for (uint64_t i = 0; i < p->region->annex_count; i++)
        if (gap < p->region->annexes[i].high && p->region->annexes[i].low < gap + size_bytes)
            return 0; // A second annex at the same place: the first one is full.
    return gap;
}

/* Return the annex that a jump at ADDRESS reaches and that has a free place; make one if there is
 * none. Return NULL on failure. */
static struct annex *
annex_near(struct places *p, uint64_t address)
{
    struct region *region = p->region;
    struct annex *a;
    uint64_t low;

    for (uint64_t i = 0; i < region->annex_count; i++) {
        a = &p->annexes[i];
        if (a->used_bytes + PLACE_BYTES <= ANNEX_BYTES &&
            patch_reaches(address, region->annexes[i].low, region->annexes[i].high))
            return a;
    }
    low = region->annex_count < REGION_ANNEXES_MAX ? find_gap(p, address, ANNEX_BYTES) : 0;
    if (low == 0)
        return NULL;
    a = &p->annexes[region->annex_count];
    *a = (struct annex){.low = low, .code = arena_alloc(&p->target->arena, ANNEX_BYTES)};
    region->annexes[region->annex_count++] = (struct region_annex){low, low + ANNEX_BYTES};
    return a;
}

int
annex_place(struct places *p, uint64_t address, uint64_t target, struct place *ret,
            struct err *err)
{
    const struct region *region = p->region;
    struct annex *a;

    if (patch_reaches(address, p->base, p->base + region->size_bytes)) {
        ENSURE(p->code_used_bytes + TRAMPOLINE_BYTES <= p->code_bytes);
        *ret = (struct place){region->code + p->code_used_bytes, p->code + p->code_used_bytes,
                              target};
        p->code_used_bytes += TRAMPOLINE_BYTES;
        return 0;
    }
    a = annex_near(p, address);
    if (a == NULL)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u has no free memory within 2 GiB of the allocator",
                       p->target->pid);
    *ret = (struct place){a->low + a->used_bytes, a->code + a->used_bytes,
                          a->low + a->used_bytes + TRAMPOLINE_BYTES};
    patch_relay(ret->code + TRAMPOLINE_BYTES, target);
    a->used_bytes += PLACE_BYTES;
    return 0;
}
