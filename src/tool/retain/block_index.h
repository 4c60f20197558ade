/* block_index.h: find the block that contains an address, in constant time. */
#ifndef RETAIN_BLOCK_INDEX_H
#define RETAIN_BLOCK_INDEX_H

#include "image/blocks.h"

enum {
    INDEX_GRANULE_SHIFT = 4, // Two blocks of malloc never begin in the same granule.
    INDEX_CELL_SHIFT = 10,
    INDEX_SPAN_SHIFT = 24,
    INDEX_TABLE_SHIFT = 14, // log2 of the number of spans in a table.
};

/* A KiB of addresses. */
struct index_cell {
    uint64_t begins; // Bit I is set if a block begins in granule I.
    uint32_t before; // Number of blocks that begin in front of the cell.
};

/* Addresses that share all bits above INDEX_SPAN_SHIFT. */
struct index_span {
    uint32_t before;          // Number of blocks that begin in front of the span.
    struct index_cell *cells; // NULL = no block begins in the span.
};

struct block_index {
    const struct block *blocks; // By address.
    const uint64_t *extents;    // By block: number of bytes that belong to it.
    uint32_t count;
    uint64_t low, high; // Bounds of all blocks.
    bool aligned;       // Every block begins at a granule, and each in another one.
    struct index_span *spans;
    size_t span_count, span_capacity;
    uint32_t **tables; // By number of the span since `low`: its index in `spans` plus 1.
    size_t table_count;
};

/* Make *RET the index of B, whose blocks have EXTENTS bytes. Borrows both. *RET is released by
 * block_index_release. */
void block_index_build(const struct blocks *b, const uint64_t *extents, struct block_index *ret);
void block_index_release(struct block_index *x);

/* Return the span of ADDRESS, NULL if no block has a part of it. */
static inline const struct index_span *
block_index_span(const struct block_index *x, uint64_t address)
{
    uint64_t number = (address >> INDEX_SPAN_SHIFT) - (x->low >> INDEX_SPAN_SHIFT);
    const uint32_t *table;
    uint32_t i;

    if (address - x->low >= x->high - x->low)
        return NULL;
    table = x->tables[number >> INDEX_TABLE_SHIFT];
    i = table != NULL ? table[number & ((1u << INDEX_TABLE_SHIFT) - 1)] : 0;
    return i != 0 ? &x->spans[i - 1] : NULL;
}

/* Return the cell of ADDRESS, which is in SPAN; NULL if no block begins in SPAN. */
static inline const struct index_cell *
block_index_cell(const struct index_span *span, uint64_t address)
{
    uint64_t off = address & ((UINT64_C(1) << INDEX_SPAN_SHIFT) - 1);

    return span->cells != NULL ? &span->cells[off >> INDEX_CELL_SHIFT] : NULL;
}

/* Return the index plus 1 of the block that contains ADDRESS, which is in SPAN; 0 if there is
 * none. If blocks overlap, only the last one that begins at ADDRESS or before it counts. */
uint32_t block_index_find_in(const struct block_index *x, const struct index_span *span,
                             uint64_t address);

/* Like block_index_find_in, for any ADDRESS. */
static inline uint32_t
block_index_find(const struct block_index *x, uint64_t address)
{
    const struct index_span *span = block_index_span(x, address);

    return span != NULL ? block_index_find_in(x, span, address) : 0;
}

#endif
