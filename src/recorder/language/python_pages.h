/* python_pages.h: sets of pages. */
#ifndef LANGUAGE_PYTHON_PAGES_H
#define LANGUAGE_PYTHON_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/base.h"

enum {
    PYTHON_PAGE_BITS = 12,
    PYTHON_PAGES_WORD_BITS = 6,
    PYTHON_PAGES_LEAF_BITS = 14,
    PYTHON_PAGES_TOP_BITS = 47 - PYTHON_PAGES_LEAF_BITS - PYTHON_PAGES_WORD_BITS - PYTHON_PAGE_BITS,
};

struct python_pages {
    uint64_t *leaves[1 << PYTHON_PAGES_TOP_BITS]; // Atomic; a leaf has one bit per page of 4 GiB.
};

// Pages that the interpreter mapped and has not released: for objects, and for frames.
extern struct python_pages python_arenas, python_chunks;

/* Atomic: counts the events that invalidate cached facts: the release of a page of the interpreter,
 * of an object that contains a frame, or of a code object. */
extern uint64_t python_gone;

/* Add the pages of the BYTES at P to PAGES if THERE, else remove them. Without memory they are not
 * added. */
void python_mark_pages(struct python_pages *pages, const void *p, size_t bytes, bool there);

/* Count such an event. Call before the memory is reused. */
static inline void
python_goes(void)
{
    __atomic_fetch_add(&python_gone, UINT64_C(1), __ATOMIC_RELEASE);
}

static inline bool
python_is_page_of(const struct python_pages *pages, uintptr_t address)
{
    uintptr_t word = address >> (PYTHON_PAGE_BITS + PYTHON_PAGES_WORD_BITS);
    uint64_t *leaf;

    if (unlikely(word >> PYTHON_PAGES_LEAF_BITS >= countof(pages->leaves)))
        return false;
    leaf = load_acquire(&pages->leaves[word >> PYTHON_PAGES_LEAF_BITS]);
    return leaf != NULL && load_relaxed(&leaf[word & ((1 << PYTHON_PAGES_LEAF_BITS) - 1)]) >>
                               (address >> PYTHON_PAGE_BITS & 63) & 1;
}

#endif
