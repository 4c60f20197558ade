/* gc_live.c: the set of live objects of a collected heap.
 *
 * After a collection the adapter must check the mark of each object, so it needs the addresses of
 * all objects. A table of pointers would keep them alive: the collector scans the memory of
 * libraries, and treats every word that looks like an address as one. So the set stores no
 * pointers, but a byte per 16 bytes of the heap, the alignment of all objects:
 *
 *     address   47 ... 34 33 ... 22 21 ... 4        byte   0 = no object begins here,
 *               top       leaf      byte                   else its kind plus 1
 *
 * The memory comes from mmap and is unknown to the collector. It is never freed, because a
 * collected heap rarely shrinks.
 *
 * Threads write only the bytes of their own objects. The sweep runs while the collector's lock is
 * held, so the memory of a removed object cannot be reused meanwhile. An object that a thread adds
 * during a sweep is marked, because the thread has a reference to it. */
#include "language/gc_record.h"

#include <sys/mman.h>

#include "base/atomics.h"

enum {
    REGION_BITS = 22, // Number of address bits within a region.
    LEAF_BITS = 12,   // Number of address bits that index the regions of a leaf.
    TOP_BITS = 47 - REGION_BITS - LEAF_BITS,
    REGION_BYTES = 1 << (REGION_BITS - 4),
    WORD = sizeof(uint64_t),
};

struct leaf {
    unsigned char *regions[1 << LEAF_BITS];
};

static struct leaf *top[1 << TOP_BITS];

/* Return *PLACE. If *PLACE is NULL, first store the address of new zeroed memory there. Return NULL
 * if there is no memory. */
static void *
made(void **place, size_t bytes)
{
    void *p = load_acquire(place), *none = NULL;

    if (p != NULL)
        return p;
    p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0);
    if (p == MAP_FAILED)
        return NULL;
    if (cas_acq_rel(place, &none, p))
        return p;
    munmap(p, bytes);
    return none;
}

/* Return the address of the byte for P; if MAKE, create the leaf when it is missing. Return NULL if
 * the leaf is missing or there is no memory. */
static unsigned char *
byte_of(const void *p, bool make)
{
    uintptr_t a = (uintptr_t)p;
    struct leaf **l = &top[a >> (REGION_BITS + LEAF_BITS) & ((1 << TOP_BITS) - 1)];
    struct leaf *leaf;
    unsigned char **r, *region;

    if (a >> 47 != 0 || a % 16 != 0)
        return NULL;
    leaf = make ? made((void **)l, sizeof **l) : load_acquire(l);
    if (leaf == NULL)
        return NULL;
    r = &leaf->regions[a >> REGION_BITS & ((1 << LEAF_BITS) - 1)];
    region = make ? made((void **)r, REGION_BYTES) : load_acquire(r);
    return region != NULL ? region + (a >> 4) % REGION_BYTES : NULL;
}

bool
gc_live_put(const void *p, unsigned kind)
{
    unsigned char *b = byte_of(p, true);

    if (b == NULL)
        return false;
    store_relaxed(b, (unsigned char)(kind + 1));
    return true;
}

int
gc_live_take(const void *p)
{
    unsigned char *b = byte_of(p, false);
    int kind;

    if (b == NULL)
        return -1;
    kind = load_relaxed(b) - 1;
    store_relaxed(b, (unsigned char)0);
    return kind;
}

static void
sweep_region(unsigned char *region, uintptr_t first, bool (*is_dead)(const void *p),
             void (*ends)(const void *p, unsigned kind))
{
    for (size_t w = 0; w < REGION_BYTES; w += WORD) {
        if (load_relaxed((uint64_t *)(void *)(region + w)) == 0)
            continue;
        for (size_t i = w; i < w + WORD; i++) {
            unsigned byte = load_relaxed(region + i);
            const void *p = (const void *)(first + i * 16);

            if (byte == 0 || !is_dead(p))
                continue;
            store_relaxed(region + i, (unsigned char)0);
            ends(p, byte - 1);
        }
    }
}

void
gc_live_sweep(bool (*is_dead)(const void *p), void (*ends)(const void *p, unsigned kind))
{
    for (uintptr_t t = 0; t < 1 << TOP_BITS; t++) {
        struct leaf *leaf = load_acquire(&top[t]);

        for (uintptr_t l = 0; leaf != NULL && l < 1 << LEAF_BITS; l++) {
            unsigned char *region = load_acquire(&leaf->regions[l]);

            if (region != NULL)
                sweep_region(region, (t << LEAF_BITS | l) << REGION_BITS, is_dead, ends);
        }
    }
}
