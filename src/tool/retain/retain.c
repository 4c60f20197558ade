/* retain.c: read all that the views of `heaptap retain` need while the process is stopped.
 *
 * Names need debug information, which takes long to read. So only numbers are collected: the graph,
 * the words of the path, and a copy of each stack, which is unwound later. */
#include "retain/retain.h"

#include <stdlib.h>

#include "image/saved_registers.h"

enum {
    RED_ZONE_BYTES = 128,
    STACK_BYTES_MAX = 1 << 20, // Most stacks use less.
};

/* --- The words of the path ---------------------------------------------------------------- */

struct word_search {
    const struct examined *e;
    const uint64_t *extents;
    size_t target;    // Index of the block plus 1.
    uint64_t number;  // Register to read.
    struct retain_word found;
    bool is_found;
};

static void
find_pointer(void *arg, uint64_t at, uint64_t value)
{
    struct word_search *s = arg;

    if (s->is_found || scan_block_at(s->e, s->extents, value) != s->target)
        return;
    s->found = (struct retain_word){at, value};
    s->is_found = true;
}

static void
find_register(void *arg, uint64_t at, uint64_t value)
{
    struct word_search *s = arg;

    if (at == s->number)
        s->found.value = value;
}

static struct retain_word
first_word(const struct retain *r)
{
    const struct root_word *word = r->path.root;
    const struct scan_range *root = &r->roots.v[word->root];
    struct word_search s = {.number = word->at, .found.at = word->at};

    if (root->kind == SCAN_REGISTER)
        saved_registers_scan(&r->e->memory, root->thread, find_register, &s);
    else
        memory_word(&r->e->memory, word->at, sizeof s.found.value, &s.found.value);
    return s.found;
}

static void
find_words(struct retain *r, const uint64_t *extents, struct arena *arena)
{
    const struct block *v = r->e->blocks.v;

    r->words = arena_array(arena, r->path.count + 1, sizeof *r->words);
    if (r->path.root != NULL)
        r->words[0] = first_word(r);
    for (size_t i = 1; i < r->path.count; i++) {
        uint32_t from = r->path.blocks[i - 1];
        struct word_search s = {
            .e = r->e, .extents = extents, .target = r->path.blocks[i] + (size_t)1};

        scan_words(r->e, v[from].address, v[from].address + extents[from], find_pointer, &s);
        r->words[i] = s.found;
    }
}

/* --- Stacks ------------------------------------------------------------------------------- */

static void
copy_stacks(struct retain *r, struct arena *arena)
{
    const struct memory *m = &r->e->memory;

    r->stacks = arena_array(arena, m->thread_count + 1, sizeof *r->stacks);
    for (size_t i = 0; i < m->thread_count; i++) {
        const struct memory_thread *t = &m->threads[i];
        const struct memory_region *region = memory_region_at(m, t->sp);
        uint64_t start = t->sp - RED_ZONE_BYTES, bytes;
        unsigned char *copy;

        if (t->register_count == 0 || region == NULL)
            continue;
        start = start - region->start < region->end - region->start ? start : region->start;
        bytes = region->end - start < STACK_BYTES_MAX ? region->end - start : STACK_BYTES_MAX;
        copy = arena_alloc(arena, bytes);
        r->stacks[r->stack_count++] =
            (struct retain_stack){start, memory_read(m, start, copy, bytes), copy};
    }
}

bool
retain_read_word(const struct retain *r, uint64_t address, uint64_t *ret)
{
    const struct memory *m = &r->e->memory;

    if (!m->lives)
        return memory_word(m, address, m->word_bytes, ret);
    for (size_t i = 0; i < r->stack_count; i++) {
        const struct retain_stack *s = &r->stacks[i];

        if (address - s->start < s->size_bytes &&
            s->size_bytes - (address - s->start) >= m->word_bytes) {
            *ret = memory_number(m, s->bytes + (address - s->start), m->word_bytes);
            return true;
        }
    }
    return false;
}

/* --- All ---------------------------------------------------------------------------------- */

void
retain_find(const struct examined *e, const struct block *target, struct arena *arena,
            struct retain *ret)
{
    uint64_t *extents = scan_extents(e, arena);

    *ret = (struct retain){.e = e, .target = target};
    block_graph_read(e, extents, arena, &ret->graph, &ret->roots);
    ret->ranks = xcalloc(e->blocks.count + 1, 1);
    ret->begins = xcalloc(e->blocks.count + 1, 1);
    block_graph_rank(&ret->graph, &ret->roots, ret->ranks);
    block_graph_lost(&ret->graph, ret->ranks, ret->begins);
    if (target != NULL)
        block_graph_shortest(&ret->graph, &ret->roots, ret->ranks,
                             (uint32_t)(target - e->blocks.v), arena, &ret->path);
    find_words(ret, extents, arena);
    if (e->memory.lives)
        copy_stacks(ret, arena);
}

void
retain_release(struct retain *r)
{
    if (r == NULL)
        return;
    block_graph_release(&r->graph);
    roots_release(&r->roots);
    free(r->ranks);
    free(r->begins);
    *r = (struct retain){0};
}
