/* block_graph.c: read all pointers of a process once, and answer questions without the memory.
 *
 * Blocks are read in the order of their addresses, many with each read, and each word is looked up
 * in an index (block_index.h). So the edges of a block follow each other, and an array of targets
 * with the position of each block's first edge is the whole graph: 8 bytes for each block and 4 for
 * each pointer.
 *
 * A lookup waits for memory, so candidates are collected first, and their cells prefetched. */
#include "retain/block_graph.h"

#include <stdlib.h>
#include <string.h>

#include "image/saved_registers.h"
#include "retain/block_index.h"

enum {
    WORD = 8,
    READ_WORDS = 32 << 10, // Words read at once; they fit into a processor's cache.
    GAP_BYTES = 4 << 10,   // More memory than this between two blocks is not read.
    BATCH = 64,
    NODES_FIRST = 1024,
    PAGE_BYTES = 4096,
};

/* --- The graph ---------------------------------------------------------------------------- */

void
block_graph_begin(struct block_graph *g)
{
    *g = (struct block_graph){.node_capacity = NODES_FIRST};
    g->first = xcalloc(g->node_capacity, sizeof *g->first);
}

void
block_graph_add_node(struct block_graph *g)
{
    if (g->count + (size_t)2 > g->node_capacity) {
        g->node_capacity *= 2;
        g->first = xrealloc(g->first, g->node_capacity * sizeof *g->first);
    }
    g->first[g->count + 1] = g->first[g->count];
    g->count++;
}

void
block_graph_grow(struct block_graph *g)
{
    g->edge_capacity = g->edge_capacity != 0 ? 2 * g->edge_capacity : NODES_FIRST;
    g->to = xrealloc(g->to, g->edge_capacity * sizeof *g->to);
}

void
block_graph_release(struct block_graph *g)
{
    free(g->first);
    free(g->to);
    *g = (struct block_graph){0};
}

/* --- Pointers of blocks ------------------------------------------------------------------- */

struct candidate {
    uint64_t value;
    const struct index_span *span;
};

struct reader {
    const struct examined *e;
    const struct block_index *index;
    struct block_graph *graph;
    uint64_t start; // Address of the first word read.
    size_t count;   // Number of words read.
    uint64_t *words;
    uint32_t block; // Block whose words are being looked up.
    struct candidate waiting[BATCH];
    size_t waiting_count;
};

/* Look up the candidates of the present block. */
static void
flush_waiting(struct reader *r)
{
    for (size_t i = 0; i < r->waiting_count; i++) {
        uint32_t to = block_index_find_in(r->index, r->waiting[i].span, r->waiting[i].value);

        // A block's pointer to itself does not keep it alive.
        if (to != 0 && to - 1 != r->block)
            block_graph_add_edge(r->graph, to - 1);
    }
    r->waiting_count = 0;
}

static void
look_up_words(struct reader *r, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct index_span *span = block_index_span(r->index, words[i]);
        const struct index_cell *cell;

        if (span == NULL)
            continue;
        cell = block_index_cell(span, words[i]);
        if (cell != NULL)
            __builtin_prefetch(cell);
        r->waiting[r->waiting_count++] = (struct candidate){words[i], span};
        if (r->waiting_count == BATCH)
            flush_waiting(r);
    }
}

/* Return the end of the memory to read at once, from AT in block I on. It includes later blocks as
 * long as they are close. */
static uint64_t
end_of_read(const struct reader *r, uint32_t i, uint64_t at)
{
    const struct block_index *x = r->index;
    uint64_t limit = at + READ_WORDS * WORD, end = x->blocks[i].address + x->extents[i];

    while (++i < x->count && end < limit && x->blocks[i].address < end + GAP_BYTES)
        if (x->blocks[i].address + x->extents[i] > end)
            end = x->blocks[i].address + x->extents[i];
    return end < limit ? end : limit;
}

/* Read words from AT on, which is in block I. Return the address of the first one, which is behind
 * AT if AT cannot be read; UINT64_MAX if nothing follows. */
static uint64_t
read_from(struct reader *r, uint32_t i, uint64_t at)
{
    const struct memory *m = &r->e->memory;

    for (;;) {
        uint64_t next = memory_next(m, at);

        if (next > UINT64_MAX - WORD)
            return UINT64_MAX;
        r->start = (next + WORD - 1) & -(uint64_t)WORD;
        r->count = 0;
        if (r->start >= r->index->blocks[i].address + r->index->extents[i])
            return UINT64_MAX;
        r->count = memory_read(m, r->start, r->words, end_of_read(r, i, r->start) - r->start) /
                   WORD;
        if (r->count > 0)
            return r->start;
        // A running process may have unmapped this page.
        at = r->start + PAGE_BYTES;
    }
}

/* Append block I and its edges to the graph. */
static void
read_block(struct reader *r, uint32_t i)
{
    const struct block_index *x = r->index;
    uint64_t at = (x->blocks[i].address + WORD - 1) & -(uint64_t)WORD;
    uint64_t end = x->blocks[i].address + x->extents[i];

    block_graph_add_node(r->graph);
    r->block = i;
    while (at < end && end - at >= WORD) {
        size_t count, left;

        if (at - r->start >= r->count * WORD)
            at = read_from(r, i, at);
        if (at >= end || end - at < WORD)
            break;
        left = r->count - (at - r->start) / WORD;
        count = (end - at) / WORD < left ? (end - at) / WORD : left;
        look_up_words(r, r->words + (at - r->start) / WORD, count);
        at += count * WORD;
    }
    flush_waiting(r);
}

/* --- Roots -------------------------------------------------------------------------------- */

struct root_reader {
    const struct examined *e;
    const struct block_index *index;
    struct roots *roots;
    uint32_t root;
    uint8_t *mapped; // By block: mapped memory points to it.
};

static void
add_root_word(void *arg, uint64_t at, uint64_t value)
{
    struct root_reader *r = arg;
    struct roots *roots = r->roots;
    const struct scan_range *range = &roots->v[r->root];
    uint32_t to = block_index_find(r->index, value);

    if (to == 0)
        return;
    if (range->is_libc && scan_is_next_chunk(&r->index->blocks[to - 1], value))
        return;
    // A heap of another runtime may have millions of such words, and they have no names.
    if (range->kind == SCAN_MAPPED && r->mapped[to - 1])
        return;
    r->mapped[to - 1] = range->kind == SCAN_MAPPED;
    if (roots->word_count == roots->word_capacity) {
        roots->word_capacity = roots->word_capacity != 0 ? 2 * roots->word_capacity : NODES_FIRST;
        roots->words = xrealloc(roots->words, roots->word_capacity * sizeof *roots->words);
    }
    roots->words[roots->word_count++] = (struct root_word){at, r->root, to - 1};
}

static void
read_roots(const struct examined *e, const struct block_index *index, struct arena *arena,
           struct roots *ret)
{
    const struct memory *m = &e->memory;
    struct root_reader r = {.e = e, .index = index, .roots = ret};
    struct scan_range *ranges;
    size_t count = scan_ranges(e, arena, &ranges);

    *ret = (struct roots){.v = arena_array(arena, count + m->thread_count + 1, sizeof *ret->v)};
    memcpy(ret->v, ranges, count * sizeof *ranges);
    r.mapped = xcalloc(index->count + (size_t)1, 1);
    for (; ret->count < count; ret->count++) {
        r.root = (uint32_t)ret->count;
        scan_words(e, ranges[ret->count].start, ranges[ret->count].end, add_root_word, &r);
    }
    for (size_t i = 0; i < m->thread_count; i++) {
        r.root = (uint32_t)ret->count++;
        ret->v[r.root] = (struct scan_range){.kind = SCAN_REGISTER, .thread = &m->threads[i]};
        saved_registers_scan(m, &m->threads[i], add_root_word, &r);
    }
    free(r.mapped);
}

void
roots_release(struct roots *r)
{
    free(r->words);
    *r = (struct roots){0};
}

void
block_graph_read(const struct examined *e, const uint64_t *extents, struct arena *arena,
                 struct block_graph *ret_graph, struct roots *ret_roots)
{
    struct block_index index;
    struct reader r = {.e = e, .index = &index, .graph = ret_graph};

    block_index_build(&e->blocks, extents, &index);
    block_graph_begin(ret_graph);
    r.words = xmalloc((size_t)READ_WORDS * WORD);
    for (uint32_t i = 0; i < index.count; i++)
        read_block(&r, i);
    free(r.words);
    read_roots(e, &index, arena, ret_roots);
    block_index_release(&index);
}
