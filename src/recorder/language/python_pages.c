/* python_pages.c: sets of pages, with a bit for each page of the address space.
 *
 * Each object that the interpreter allocates or frees is looked up, in three loads: a table of
 * leaves, each for 4 GiB, a word of the leaf, and its bit. A leaf is mapped when the first page of
 * its 4 GiB is added, and is never unmapped. Untouched parts of a leaf are zero and use no memory.
 * Several threads may add and look up concurrently.
 *
 * Chunks of frames also have numbers. The interpreter maps a chunk when a function is called that
 * does not fit into the previous chunk, and unmaps it when this function returns. So the number of
 * the mapping shows that the function is still running, and so are all functions outside it. */
#include "language/python_adapter.h"

#include <sys/mman.h>

enum {
    CHUNKS = 1 << 12,
    LIFE_BITS = 29,
};

#define LIVES (UINT64_C(1) << LIFE_BITS)

struct python_pages python_arenas, python_chunks;
uint64_t python_gone;
static uint64_t chunks[CHUNKS]; // Atomic, by hash of the address: page number and life; 0 = free.
static uint64_t lives;          // Atomic: the number of chunks so far.

/* Return the word that contains the bit of the page at ADDRESS. Map its leaf if it is missing;
 * return NULL if there is no memory. */
static uint64_t *
page_word(struct python_pages *pages, uintptr_t address)
{
    uintptr_t word = address >> (PYTHON_PAGE_BITS + PYTHON_PAGES_WORD_BITS);
    uint64_t *leaf, *none = NULL, **place;
    size_t bytes = sizeof(uint64_t) << PYTHON_PAGES_LEAF_BITS;

    if (word >> PYTHON_PAGES_LEAF_BITS >= countof(pages->leaves))
        return NULL;
    place = &pages->leaves[word >> PYTHON_PAGES_LEAF_BITS];
    leaf = load_acquire(place);
    if (leaf == NULL) {
        leaf = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (leaf == MAP_FAILED)
            return NULL;
        if (!cas_acq_rel(place, &none, leaf)) {
            munmap(leaf, bytes);
            leaf = none;
        }
    }
    return &leaf[word & ((1 << PYTHON_PAGES_LEAF_BITS) - 1)];
}

void
python_mark_pages(struct python_pages *pages, const void *p, size_t bytes, bool present)
{
    for (size_t at = 0; at < bytes; at += (size_t)1 << PYTHON_PAGE_BITS) {
        uintptr_t address = (uintptr_t)p + at;
        uint64_t *word = page_word(pages, address);
        uint64_t bit = UINT64_C(1) << (address >> PYTHON_PAGE_BITS & 63);

        if (word == NULL)
            continue;
        if (present)
            or_relaxed(word, bit);
        else
            __atomic_fetch_and(word, ~bit, __ATOMIC_RELAXED);
    }
}

/* --- Chunks ----------------------------------------------------------------------------------- */

static uint64_t *
chunk_word(uintptr_t base)
{
    return &chunks[(base >> PYTHON_PAGE_BITS) * UINT64_C(0x9e3779b97f4a7c15) >> 52]; // 12 bits
}

static_assert(CHUNKS == 1 << (64 - 52), "the hash has as many bits");

void
python_chunk_begins(const void *p, size_t bytes)
{
    uintptr_t base = (uintptr_t)p;
    uint64_t life = add_relaxed(&lives, UINT64_C(1)) % LIVES;

    python_mark_pages(&python_chunks, p, bytes, true);
    if (unlikely(life == 0)) {
        python_goes(); // From here on, numbers may be equal to those in a memo.
        life = add_relaxed(&lives, UINT64_C(1)) % LIVES;
    }
    if (base & (((uintptr_t)1 << PYTHON_PAGE_BITS) - 1))
        return;
    // The chunk that loses its place gets no number again, so no memo would know that it ends.
    if (load_relaxed(chunk_word(base)) != 0)
        python_goes();
    store_relaxed(chunk_word(base), (uint64_t)base >> PYTHON_PAGE_BITS << LIFE_BITS | life);
}

void
python_chunk_ends(const void *p, size_t bytes)
{
    uint64_t *word = chunk_word((uintptr_t)p);
    bool is_outermost = python_pointer(p, 0) == NULL;

    python_mark_pages(&python_chunks, p, bytes, false);
    if (load_relaxed(word) >> LIFE_BITS != (uintptr_t)p >> PYTHON_PAGE_BITS) {
        python_goes();
        return;
    }
    store_relaxed(word, UINT64_C(0));
    // Its first frame does not begin where a chunk's frames begin, so no life ends.
    if (is_outermost)
        python_goes();
}

uint32_t
python_chunk_life(const void *frame)
{
    uintptr_t base = (uintptr_t)frame - PYTHON_CHUNK_HEAD;
    uint64_t word;

    if (likely((base & (((uintptr_t)1 << PYTHON_PAGE_BITS) - 1)) != 0))
        return 0;
    word = load_relaxed(chunk_word(base));
    return word >> LIFE_BITS == base >> PYTHON_PAGE_BITS ? (uint32_t)(word % LIVES) : 0;
}
