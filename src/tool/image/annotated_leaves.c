/* annotated_leaves.c: walk the list of leaves, which have a byte for every granule of a span
 * (core_record.h). The list is in a foreign process's memory, so the walk ends after as many leaves
 * as that memory can hold. */
#include "image/examined.h"

enum { WORD = 8, LEAF_BYTES = (1 << CORE_SPAN_BITS) / CORE_ANNOTATED_GRANULE };

static void
each_of_leaf(const struct memory *m, uint64_t address, uint64_t span, annotated_fn *fn, void *arg)
{
    uint8_t bytes[4096];

    for (uint32_t off = 0; off < LEAF_BYTES; off += sizeof bytes) {
        size_t got = memory_read(m, address + off, bytes, sizeof bytes);

        for (size_t i = 0; i < got; i++)
            if ((bytes[i] & CORE_ANNOTATED_LIVE) != 0)
                fn(arg,
                   span + (off + i) * CORE_ANNOTATED_GRANULE +
                       (uint64_t)(bytes[i] & CORE_ANNOTATED_SUB) * WORD,
                   bytes[i]);
    }
}

void
annotated_leaves_each(const struct memory *m, const struct core_record *r, annotated_fn *fn,
                      void *arg)
{
    struct core_annotated_leaf leaf;
    uint64_t at, most = 1;

    for (size_t i = 0; i < m->region_count; i++)
        most += m->regions[i].readable_bytes / LEAF_BYTES;
    if (!memory_word(m, r->annotated, WORD, &at))
        return;
    for (uint64_t i = 0; at != 0 && i < most; i++, at = leaf.next) {
        if (memory_read(m, at, &leaf, sizeof leaf) != sizeof leaf)
            break;
        each_of_leaf(m, at + sizeof leaf, leaf.span, fn, arg);
    }
}
