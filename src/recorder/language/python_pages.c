/* python_pages.c: sets of pages, with a bit for each page of the address space.
 *
 * Each object that the interpreter allocates or frees is looked up, in three loads: a table of
 * leaves, each for 4 GiB, a word of the leaf, and its bit. A leaf is mapped when the first page of
 * its 4 GiB is added, and is never unmapped. Untouched parts of a leaf are zero and use no memory.
 * Several threads may add and look up concurrently. */
#include "language/python_adapter.h"

#include <sys/mman.h>

struct python_pages python_arenas, python_chunks;
uint64_t python_gone;

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
    if (!present)
        python_goes();
}
