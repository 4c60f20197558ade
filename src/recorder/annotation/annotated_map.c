/* annotated_map.c: one state byte for each 64 bytes of address space with annotated blocks.
 *
 * A function that frees a pointer, or returns its size, must not read the memory before the block
 * unless an annotation is certain to be there. The block may belong to another allocator or predate
 * the recorder, and then the memory before it may be unreadable. The ledger (ledger.c) cannot
 * decide this: a block leaves it before its memory is released, and some blocks never enter it. A
 * forked child also starts with an empty ledger, while it inherits its parent's annotated blocks.
 * So this map is separate, in memory that children inherit.
 *
 *     address ── top 12 bits ──► part, 16 KiB ── 11 bits ──► leaf: a byte for each 64 bytes of
 *                                                            2^24, and a link
 *
 *     byte:  sub (offset in the 64 bytes, in steps of 8) | LIVE | LOOKED | PADDED | REPORTED |
 *            ENDED
 *
 * LIVE is written by the block's owner alone, the thread that uses the block. LOOKED is set by a
 * thread that walks all blocks; while it is set, the block's memory must stay mapped and
 * unreleased. If the owner ends the block meanwhile, it clears LIVE and leaves the release of the
 * memory to the walker. So no thread waits for another. The other bits of an ended block stay until
 * a new block begins there, so that a second free finds the same memory as the first.
 *
 * Leaves form a list, the latest first, which core dumps contain; see internals/core.md. */
#include "annotation/annotated_map.h"

#include <sys/mman.h>

#include "base/atomics.h"
#include "platform/arch_x86_64.h"
#include "platform/sys.h"

enum {
    GRANULE = CORE_ANNOTATED_GRANULE,
    SPAN_BITS = CORE_SPAN_BITS,
    SPAN_BYTES = 1 << SPAN_BITS,
    LEAF_BYTES = SPAN_BYTES / GRANULE,
    PART_BITS = 35,
    PART_LEAVES = 1 << (PART_BITS - SPAN_BITS),
};

struct map_leaf {
    struct core_annotated_leaf head;
    uint8_t state[LEAF_BYTES];
};
static_assert(sizeof(struct core_annotated_leaf) == 32, "internals/core.md");

struct map_part {
    struct map_leaf *leaves[PART_LEAVES]; // Atomic.
};

static struct map_part *map_parts[1 << (ARCH_ADDRESS_BITS - PART_BITS)]; // Atomic.
static struct map_leaf *map_leaves; // Atomic.

/* Map SIZE_BYTES of memory that a forked child inherits. Return NULL on failure. */
static void *
annotated_map_memory(size_t size_bytes)
{
    void *p = sys_mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (sys_failed(p))
        return NULL;
    sys_madvise(p, size_bytes, MADV_NOHUGEPAGE);
    return p;
}

/* Return the part of the map for ADDRESS; NULL if there is none. */
static inline struct map_part *
part_of(uintptr_t address)
{
    return address >> ARCH_ADDRESS_BITS == 0 ? load_acquire(&map_parts[address >> PART_BITS])
                                             : NULL;
}

static inline struct map_leaf **
place_of_leaf(struct map_part *part, uintptr_t address)
{
    return &part->leaves[address >> SPAN_BITS & (PART_LEAVES - 1)];
}

static struct map_leaf *
annotated_map_leaf_of(uintptr_t address)
{
    struct map_part *part = part_of(address);

    return part != NULL ? load_acquire(place_of_leaf(part, address)) : NULL;
}

static inline uint8_t
sub_of(uintptr_t address)
{
    return (uint8_t)(address % GRANULE / 8);
}

static inline uint8_t *
place_in(struct map_leaf *l, uintptr_t address)
{
    return &l->state[address % SPAN_BYTES / GRANULE];
}

/* Return the address of the state byte for P; NULL if no leaf covers P. */
static uint8_t *
annotated_map_place_of(const void *p)
{
    struct map_leaf *l = annotated_map_leaf_of((uintptr_t)p);

    return l != NULL && (uintptr_t)p % 8 == 0 ? place_in(l, (uintptr_t)p) : NULL;
}

static void
link_leaf(struct map_leaf *l)
{
    struct map_leaf *first = load_acquire(&map_leaves);

    do {
        l->head.next = (uintptr_t)first;
    } while (!cas_acq_rel(&map_leaves, &first, l));
}

/* Return the part for ADDRESS. Create it if it is missing; return NULL if there is no memory. */
static struct map_part *
make_part(uintptr_t address)
{
    struct map_part *part = part_of(address), *none = NULL;

    if (part != NULL || (part = annotated_map_memory(sizeof *part)) == NULL)
        return part;
    if (cas_acq_rel(&map_parts[address >> PART_BITS], &none, part))
        return part;
    sys_munmap(part, sizeof *part);
    return none;
}

bool
annotated_reserve(const void *p)
{
    uintptr_t address = (uintptr_t)p;
    struct map_part *part;
    struct map_leaf *made, *none = NULL;

    if (address % 8 != 0 || address >> ARCH_ADDRESS_BITS != 0)
        return false;
    if (annotated_map_leaf_of(address) != NULL)
        return true;
    part = make_part(address);
    made = part != NULL ? annotated_map_memory(sizeof *made) : NULL;
    if (made == NULL)
        return false;
    made->head.span = round_down(address, (uint64_t)SPAN_BYTES);
    if (cas_acq_rel(place_of_leaf(part, address), &none, made))
        link_leaf(made);
    else
        sys_munmap(made, sizeof *made);
    return true;
}

void
annotated_begins(const void *p, bool padded)
{
    uint8_t *place = annotated_map_place_of(p);

    // Store with release order, so that a thread that sees the byte in annotated_look also sees the
    // annotation.
    if (place != NULL)
        store_release(place, (uint8_t)(sub_of((uintptr_t)p) | CORE_ANNOTATED_LIVE |
                                       (padded ? CORE_ANNOTATED_PADDED : 0)));
}

void
annotated_clear_freed(const void *p)
{
    uint8_t *place = annotated_map_place_of(p);

    if (place != NULL && (load_relaxed(place) & CORE_ANNOTATED_LIVE) == 0 &&
        load_relaxed(place) != 0)
        store_relaxed(place, (uint8_t)0);
}

uint8_t
annotated_at(const void *p)
{
    const uint8_t *place = annotated_map_place_of(p);
    uint8_t byte = place != NULL ? load_acquire(place) : 0;

    return (byte & CORE_ANNOTATED_SUB) == sub_of((uintptr_t)p) ? byte : 0;
}

/* Return the state byte for a block that ends and had BYTE while it was live. The result is never
 * 0, which means no block. */
static uint8_t
ended(uint8_t byte)
{
    return (uint8_t)((byte & ~CORE_ANNOTATED_LIVE) | CORE_ANNOTATED_ENDED);
}

enum annotated_end
annotated_ends(const void *p)
{
    uint8_t byte = annotated_at(p);

    while ((byte & CORE_ANNOTATED_LIVE) != 0)
        if (cas_acq_rel(annotated_map_place_of(p), &byte, ended(byte)))
            return (byte & CORE_ANNOTATED_LOOKED) != 0 ? ANNOTATED_LEFT : ANNOTATED_ENDED;
    return ANNOTATED_NOT;
}

bool
annotated_takes(const void *p)
{
    uint8_t byte = annotated_at(p);

    while ((byte & (CORE_ANNOTATED_LIVE | CORE_ANNOTATED_LOOKED)) == CORE_ANNOTATED_LIVE)
        if (cas_acq_rel(annotated_map_place_of(p), &byte, ended(byte)))
            return true;
    return false;
}

bool
annotated_look(const void *p)
{
    uint8_t byte = annotated_at(p);

    while ((byte & (CORE_ANNOTATED_LIVE | CORE_ANNOTATED_LOOKED)) == CORE_ANNOTATED_LIVE)
        if (cas_acq_rel(annotated_map_place_of(p), &byte, (uint8_t)(byte | CORE_ANNOTATED_LOOKED)))
            return true;
    return false;
}

bool
annotated_looked(const void *p)
{
    uint8_t *place = annotated_map_place_of(p);
    uint8_t byte = load_relaxed(place);

    while (!cas_acq_rel(place, &byte, (uint8_t)(byte & ~CORE_ANNOTATED_LOOKED)))
        ;
    return (byte & CORE_ANNOTATED_LIVE) == 0;
}

bool
annotated_reports(const void *p)
{
    uint8_t *place = annotated_map_place_of(p);

    return place != NULL && (__atomic_fetch_or(place, (uint8_t)CORE_ANNOTATED_REPORTED,
                                               __ATOMIC_RELAXED) &
                             CORE_ANNOTATED_REPORTED) == 0;
}

/* Return the live block of the granule that contains AT, in leaf L; NULL if there is none. */
static void *
block_in(const struct map_leaf *l, uintptr_t at)
{
    uint8_t byte = load_relaxed(&l->state[at % SPAN_BYTES / GRANULE]);
    uintptr_t address = round_down(at, (uint64_t)GRANULE) + (byte & CORE_ANNOTATED_SUB) * 8;

    return (byte & CORE_ANNOTATED_LIVE) != 0 ? (void *)address : NULL;
}

/* Return the start of the lowest span of a leaf that ends above AT; 0 = none. */
static uintptr_t
first_span(uintptr_t at)
{
    uintptr_t best = 0;

    for (const struct map_leaf *l = load_acquire(&map_leaves); l != NULL;
         l = (const struct map_leaf *)(uintptr_t)l->head.next)
        if (l->head.span + SPAN_BYTES > at && (best == 0 || l->head.span < best))
            best = l->head.span;
    return best;
}

void *
annotated_next(uintptr_t at, uint64_t span_bytes, uintptr_t *ret_next)
{
    uintptr_t end;
    struct map_leaf *l = annotated_map_leaf_of(at);

    if (l == NULL) {
        at = first_span(at);
        l = at != 0 ? annotated_map_leaf_of(at) : NULL;
        if (l == NULL) {
            *ret_next = 0;
            return NULL;
        }
    }
    end = round_down(at, (uint64_t)SPAN_BYTES) + SPAN_BYTES;
    if (end - at > span_bytes)
        end = at + span_bytes;
    for (at = round_down(at, (uint64_t)GRANULE); at < end; at += GRANULE) {
        const uint64_t *eight = (const uint64_t *)(const void *)place_in(l, at);

        if (at % (GRANULE * 8) == 0 && load_relaxed(eight) == 0) {
            at += (uintptr_t)GRANULE * 7;
            continue;
        }
        if (block_in(l, at) != NULL) {
            *ret_next = at + GRANULE;
            return block_in(l, at);
        }
    }
    *ret_next = at;
    return NULL;
}

void *
annotated_before(const void *p, uint64_t span_bytes)
{
    uintptr_t at = round_down((uintptr_t)p, (uint64_t)GRANULE);

    for (uint64_t back = GRANULE; back <= span_bytes && back < at; back += GRANULE) {
        const struct map_leaf *l = annotated_map_leaf_of(at - back);
        void *found;

        // The eight granules up to the present one are empty.
        if ((at - back) % (GRANULE * 8) == GRANULE * 7 &&
            (l == NULL || load_relaxed((const uint64_t *)(const void *)&l->state[
                              (at - back) % SPAN_BYTES / GRANULE - 7]) == 0)) {
            back += (uint64_t)GRANULE * 7;
            continue;
        }
        found = l != NULL ? block_in(l, at - back) : NULL;
        if (found != NULL)
            return found;
    }
    return NULL;
}

uint64_t *
annotated_seen_ns(const void *p)
{
    struct map_leaf *l = annotated_map_leaf_of((uintptr_t)p);

    return l != NULL ? &l->head.seen_ns : NULL;
}

const void *
annotated_leaves(void)
{
    return &map_leaves;
}
