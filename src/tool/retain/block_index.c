/* block_index.c: from an address to the block that contains it.
 *
 * A search for pointers looks up most words of the memory. Bisection of millions of blocks would
 * read some twenty cache lines for each. Here a bitmap marks where blocks begin, and the number of
 * blocks in front of each KiB is stored beside it. So the number of bits up to an address is the
 * index of the last block that begins there or before it:
 *
 *     address ──► span of 16 MiB ──► cell of 1 KiB: 64 bits, blocks in front   16 bytes per KiB
 *                 (two tables)
 *
 * A span inside a large block, where no block begins, has no cells.
 *
 * malloc aligns its blocks to 16 bytes. Other allocators do not, and their blocks may lie in a
 * block of malloc. Then bits and blocks differ, and the blocks around the result are compared with
 * the address. */
#include "retain/block_index.h"

#include <stdlib.h>

#include "util/arena.h"

enum {
    GRANULE_BYTES = 1 << INDEX_GRANULE_SHIFT,
    CELLS = 1 << (INDEX_SPAN_SHIFT - INDEX_CELL_SHIFT),
    TABLE_SPANS = 1 << INDEX_TABLE_SHIFT,
};

/* Return the span with ADDRESS, which is made if it is missing. BEFORE blocks begin in front of
 * it. */
static struct index_span *
span_at(struct block_index *x, uint64_t address, uint32_t before)
{
    uint64_t number = (address >> INDEX_SPAN_SHIFT) - (x->low >> INDEX_SPAN_SHIFT);
    uint32_t **table = &x->tables[number >> INDEX_TABLE_SHIFT];
    uint32_t *i;

    if (*table == NULL)
        *table = xcalloc(TABLE_SPANS, sizeof **table);
    i = &(*table)[number & (TABLE_SPANS - 1)];
    if (*i != 0)
        return &x->spans[*i - 1];
    if (x->span_count == x->span_capacity) {
        x->span_capacity = x->span_capacity != 0 ? 2 * x->span_capacity : 64;
        x->spans = xrealloc(x->spans, x->span_capacity * sizeof *x->spans);
    }
    x->spans[x->span_count] = (struct index_span){.before = before};
    *i = (uint32_t)++x->span_count;
    return &x->spans[*i - 1];
}

/* Mark the beginning of block I in its span, and enter the spans into which it extends. */
static void
block_index_add(struct block_index *x, uint32_t i)
{
    uint64_t address = x->blocks[i].address, last = address + x->extents[i] - 1;
    struct index_span *span = span_at(x, address, i);
    uint64_t bit = address >> INDEX_GRANULE_SHIFT & 63;
    struct index_cell *cell;

    if (span->cells == NULL)
        span->cells = xcalloc(CELLS, sizeof *span->cells);
    cell = &span->cells[(address >> INDEX_CELL_SHIFT) & (CELLS - 1)];
    if (address % GRANULE_BYTES != 0 || cell->begins >> bit & 1)
        x->aligned = false;
    cell->begins |= UINT64_C(1) << bit;
    for (uint64_t at = (address >> INDEX_SPAN_SHIFT) + 1; at <= last >> INDEX_SPAN_SHIFT; at++)
        span_at(x, at << INDEX_SPAN_SHIFT, i + 1);
}

/* Count the blocks in front of each cell, of all blocks that begin in the span with block I. Return
 * the index of the first block behind the span. */
static uint32_t
count_in_span(struct block_index *x, uint32_t i)
{
    uint64_t number = x->blocks[i].address >> INDEX_SPAN_SHIFT;
    struct index_cell *cells = span_at(x, x->blocks[i].address, i)->cells;
    size_t cell = 0;

    for (; i < x->count && x->blocks[i].address >> INDEX_SPAN_SHIFT == number; i++) {
        size_t own = (x->blocks[i].address >> INDEX_CELL_SHIFT) & (CELLS - 1);

        for (; cell <= own; cell++)
            cells[cell].before = i;
    }
    for (; cell < CELLS; cell++)
        cells[cell].before = i;
    return i;
}

void
block_index_build(const struct blocks *b, const uint64_t *extents, struct block_index *ret)
{
    struct block_index *x = ret;

    *x = (struct block_index){
        .blocks = b->v, .extents = extents, .count = (uint32_t)b->count, .aligned = true};
    if (b->count == 0)
        return;
    x->low = b->v[0].address;
    for (uint32_t i = 0; i < x->count; i++)
        if (b->v[i].address + extents[i] > x->high)
            x->high = b->v[i].address + extents[i];
    x->table_count = (((x->high >> INDEX_SPAN_SHIFT) - (x->low >> INDEX_SPAN_SHIFT)) >>
                      INDEX_TABLE_SHIFT) + 1;
    x->tables = xcalloc(x->table_count, sizeof(uint32_t *));
    for (uint32_t i = 0; i < x->count; i++)
        block_index_add(x, i);
    for (uint32_t i = 0; i < x->count;)
        i = count_in_span(x, i);
}

void
block_index_release(struct block_index *x)
{
    for (size_t i = 0; i < x->span_count; i++)
        free(x->spans[i].cells);
    for (size_t i = 0; i < x->table_count; i++)
        free(x->tables[i]);
    free(x->spans);
    free(x->tables);
    *x = (struct block_index){0};
}

uint32_t
block_index_find_in(const struct block_index *x, const struct index_span *span, uint64_t address)
{
    const struct index_cell *cell = block_index_cell(span, address);
    uint64_t bit = address >> INDEX_GRANULE_SHIFT & 63, begins;
    uint32_t i = span->before;

    if (cell != NULL) {
        begins = cell->begins & (~UINT64_C(0) >> (63 - bit));
        i = cell->before + (uint32_t)__builtin_popcountll(begins);
        // Most pointers lead to the beginning of a block, which is proven without reading it.
        if (x->aligned && address % GRANULE_BYTES == 0 && begins >> bit & 1)
            return i;
    }
    if (!x->aligned) {
        while (i > 0 && x->blocks[i - 1].address > address)
            i--;
        while (i < x->count && x->blocks[i].address <= address)
            i++;
    }
    return i > 0 && address - x->blocks[i - 1].address < x->extents[i - 1] ? i : 0;
}
