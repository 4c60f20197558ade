/* test_retain.c: the graph of pointers between blocks, its paths and its dominators. Results for
 * random graphs and memory are compared with the results of slow and obvious algorithms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/scan.h"
#include "retain/block_index.h"
#include "retain/dominators.h"
#include "retain/block_graph.h"
#include "util/arena.h"

static uint64_t seed = 42;

static uint32_t
test_retain_random(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

/* --- Graphs ------------------------------------------------------------------------------- */

enum { NODES = 24 };

static struct block_graph
random_graph(uint32_t nodes, uint32_t edges_max)
{
    struct block_graph g;

    block_graph_begin(&g);
    for (uint32_t i = 0; i < nodes; i++) {
        block_graph_add_node(&g);
        for (uint32_t k = test_retain_random(edges_max + 1); k > 0; k--)
            block_graph_add_edge(&g, test_retain_random(nodes));
    }
    return g;
}

/* Mark the nodes of G that can be reached from ROOT without passing through WITHOUT. */
static void
reach_without(const struct block_graph *g, uint32_t root, uint32_t without, bool *ret)
{
    bool more = true;

    memset(ret, 0, g->count * sizeof *ret);
    ret[root] = root != without;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < g->count; i++)
            for (uint64_t k = g->first[i]; ret[i] && k < g->first[i + 1]; k++)
                if (!ret[g->to[k]] && g->to[k] != without)
                    more = ret[g->to[k]] = true;
    }
}

/* Return true if A is above B in the tree of D, or B. */
static bool
is_above(const struct dominators *d, uint32_t a, uint32_t b)
{
    while (b > a)
        b = d->above[b];
    return a == b;
}

static void
compare_dominators(const struct block_graph *g)
{
    struct dominators d;
    bool all[NODES], rest[NODES];

    dominators_find(g, 0, &d);
    reach_without(g, 0, UINT32_MAX, all);
    for (uint32_t i = 0; i < g->count; i++)
        assert_int_equal(all[i], d.number[i] != DOMINATORS_NONE);
    for (uint32_t i = 0; i < g->count; i++) {
        uint64_t sums[NODES] = {0}, lost = 0;

        if (!all[i])
            continue;
        reach_without(g, 0, i, rest);
        for (uint32_t k = 0; k < g->count; k++) {
            if (!all[k])
                continue;
            assert_int_equal(!rest[k], is_above(&d, d.number[i], d.number[k]));
            sums[d.number[k]] = k + 1;
            lost += rest[k] ? 0 : k + 1;
        }
        dominators_sum(&d, sums);
        assert_int_equal(sums[d.number[i]], lost);
    }
    dominators_release(&d);
}

/* If this fails, a block is said to keep memory that others keep as well, or too little. */
static void
dominators_are_those_of_a_search_without_each_node(void **state)
{
    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        struct block_graph g =
            random_graph(1 + test_retain_random(NODES), 1 + test_retain_random(4));

        compare_dominators(&g);
        block_graph_release(&g);
    }
}

/* If this fails, a long list overflows the stack of the command or takes minutes. */
static void
a_list_of_a_million_nodes_has_each_node_below_the_one_before(void **state)
{
    enum { LONG = 1000000 };
    struct block_graph g;
    struct dominators d;

    (void)state;
    block_graph_begin(&g);
    for (uint32_t i = 0; i < LONG; i++) {
        block_graph_add_node(&g);
        if (i + 1 < LONG)
            block_graph_add_edge(&g, i + 1);
        if (i > 0)
            block_graph_add_edge(&g, i - 1);
    }
    dominators_find(&g, 0, &d);
    assert_int_equal(d.count, LONG);
    for (uint32_t i = 1; i < LONG; i++)
        assert_int_equal(d.above[i], i - 1);
    dominators_release(&d);
    block_graph_release(&g);
}

/* --- Paths -------------------------------------------------------------------------------- */

enum { VARIABLE, STACK, MAPPED, RANGES };

static struct scan_range ranges[RANGES] = {
    {.kind = SCAN_VARIABLE}, {.kind = SCAN_STACK}, {.kind = SCAN_MAPPED}};

/* Return the length of the shortest path to TARGET from words of roots of KIND; 0 = none. */
static uint32_t
distance(const struct block_graph *g, const struct roots *roots, enum scan_kind kind,
         uint32_t target)
{
    uint32_t length[NODES] = {0};

    for (size_t i = 0; i < roots->word_count; i++)
        if (roots->v[roots->words[i].root].kind == kind)
            length[roots->words[i].to] = 1;
    for (uint32_t step = 1; step <= g->count; step++)
        for (uint32_t i = 0; i < g->count; i++)
            for (uint64_t k = g->first[i]; length[i] == step && k < g->first[i + 1]; k++)
                if (length[g->to[k]] == 0)
                    length[g->to[k]] = step + 1;
    return length[target];
}

static void
compare_path(const struct block_graph *g, const struct roots *roots, uint32_t target)
{
    static const enum scan_kind kinds[] = {SCAN_VARIABLE, SCAN_STACK, SCAN_MAPPED};
    struct arena arena = {0};
    struct block_path path;
    uint8_t ranks[NODES];
    uint32_t length = 0;
    size_t kind = 0;

    while (kind < countof(kinds) && (length = distance(g, roots, kinds[kind], target)) == 0)
        kind++;
    block_graph_rank(g, roots, ranks);
    assert_int_equal(ranks[target], kind);
    block_graph_shortest(g, roots, ranks, target, &arena, &path);
    assert_int_equal(path.count, length);
    assert_int_equal(path.root != NULL, length > 0);
    if (length > 0) {
        assert_int_equal(roots->v[path.root->root].kind, kinds[kind]);
        assert_int_equal(path.root->to, path.blocks[0]);
        assert_int_equal(path.blocks[length - 1], target);
    }
    for (uint32_t i = 0; i + 1 < length; i++) {
        uint64_t k = g->first[path.blocks[i]];

        while (k < g->first[path.blocks[i] + 1] && g->to[k] != path.blocks[i + 1])
            k++;
        assert_true(k < g->first[path.blocks[i] + 1]);
    }
    arena_release(&arena);
}

/* If this fails, the path shown to a block is not the shortest, does not exist, or begins on a
 * stack although a variable leads to the block. */
static void
a_path_is_the_shortest_from_the_most_certain_root(void **state)
{
    (void)state;
    for (int trial = 0; trial < 2000; trial++) {
        struct block_graph g = random_graph(1 + test_retain_random(NODES), 2);
        struct root_word words[3];
        struct roots roots = {.v = ranges, .count = RANGES, .words = words};

        roots.word_count = test_retain_random(countof(words) + 1);
        for (size_t i = 0; i < roots.word_count; i++)
            words[i] = (struct root_word){.root = test_retain_random(RANGES),
                                          .to = test_retain_random(g.count)};
        for (uint32_t i = 0; i < g.count; i++)
            compare_path(&g, &roots, i);
        block_graph_release(&g);
    }
}

/* If this fails, `heaptap core --leaks` finds other lost blocks, or the parts do not add up to the
 * whole. */
static void
lost_blocks_are_led_by_those_without_pointers_or_the_first_of_a_ring(void **state)
{
    // A root leads to 0 only; 2 and 3, 4 and 5, 7 and 8 are rings.
    static const uint32_t edges[][2] = {{1, 2}, {2, 3}, {3, 2}, {4, 5}, {5, 4},
                                        {5, 0}, {7, 8}, {8, 7}};
    struct root_word word = {.root = VARIABLE, .to = 0};
    struct roots roots = {.v = ranges, .count = RANGES, .words = &word, .word_count = 1};
    struct block_graph g;
    uint8_t begins[9], ranks[9];

    (void)state;
    block_graph_begin(&g);
    for (uint32_t i = 0; i < countof(begins); i++) {
        block_graph_add_node(&g);
        for (size_t k = 0; k < countof(edges); k++)
            if (edges[k][0] == i)
                block_graph_add_edge(&g, edges[k][1]);
    }
    block_graph_rank(&g, &roots, ranks);
    assert_memory_equal(ranks, ((uint8_t[]){0, 3, 3, 3, 3, 3, 3, 3, 3}), sizeof ranks);
    block_graph_lost(&g, ranks, begins);
    assert_memory_equal(begins, ((uint8_t[]){0, 1, 0, 0, 1, 0, 1, 1, 0}), sizeof begins);
    // The lost ring of 4 and 5 does not keep 0.
    block_graph_keep_ranks(&g, ranks);
    assert_int_equal(g.first[g.count], countof(edges) - 1);
    assert_int_equal(g.first[6] - g.first[5], 1);
    assert_int_equal(g.to[g.first[5]], 4);
    block_graph_release(&g);
}

/* --- Memory ------------------------------------------------------------------------------- */

enum { HEAP_BYTES = 1 << 16, GLOBALS_BYTES = 4096, BLOCKS = 400 };

#define HEAP UINT64_C(0x10ff8000) // Across the end of a span.
#define GLOBALS UINT64_C(0x7000000)

struct fake {
    struct examined e;
    struct memory_region regions[2];
    struct memory_mapping mapping;
    struct block blocks[BLOCKS];
    unsigned char bytes[HEAP_BYTES + GLOBALS_BYTES];
};

/* Fill in F with random blocks, aligned to ALIGN, and words that often point to them. With NESTED,
 * blocks may lie in others. */
static void
fake_fill(struct fake *f, uint32_t align, bool nested)
{
    uint64_t *words = (uint64_t *)f->bytes, at = HEAP;
    size_t count = 0;

    while (count < BLOCKS) {
        uint64_t size = test_retain_random(200), next = nested ? align : (size + 15) & ~15u;

        if (next == 0)
            next = align;
        f->blocks[count++] = (struct block){.address = at, .size_bytes = size};
        at += next + align * test_retain_random(2);
    }
    assert_true(at + 200 < HEAP + HEAP_BYTES);
    f->regions[0] = (struct memory_region){.start = GLOBALS,
                                           .end = GLOBALS + GLOBALS_BYTES,
                                           .readable_bytes = GLOBALS_BYTES,
                                           .file_off = HEAP_BYTES,
                                           .access = MEMORY_READ | MEMORY_WRITE};
    f->regions[1] = (struct memory_region){.start = HEAP,
                                           .end = HEAP + HEAP_BYTES,
                                           .readable_bytes = HEAP_BYTES,
                                           .access = MEMORY_READ | MEMORY_WRITE};
    f->mapping = (struct memory_mapping){GLOBALS, GLOBALS + GLOBALS_BYTES, 0, "/bin/fake"};
    f->e = (struct examined){
        .memory = {.word_bytes = 8, .regions = f->regions, .region_count = 2,
                   .mappings = &f->mapping, .mapping_count = 1, .bytes = f->bytes,
                   .size_bytes = sizeof f->bytes},
        .blocks = {.v = f->blocks, .count = count}};
    for (size_t i = 0; i < sizeof f->bytes / sizeof *words; i++)
        words[i] = test_retain_random(4) != 0 ? HEAP + test_retain_random(HEAP_BYTES)
                                               : test_retain_random(UINT32_MAX);
}

/* Compare the edges of G, of the blocks of F, with those that a bisection finds. */
static void
compare_edges(const struct fake *f, const struct block_graph *g)
{
    struct arena arena = {0};
    uint64_t *extents = scan_extents(&f->e, &arena), edge = 0;

    assert_int_equal(g->count, f->e.blocks.count);
    for (uint32_t i = 0; i < g->count; i++) {
        uint64_t end = f->blocks[i].address + extents[i];

        assert_int_equal(g->first[i], edge);
        for (uint64_t at = (f->blocks[i].address + 7) & ~UINT64_C(7); at + 8 <= end; at += 8) {
            size_t to = scan_block_at(&f->e, extents, *(uint64_t *)(f->bytes + (at - HEAP)));

            if (to == 0 || to == i + 1)
                continue;
            assert_true(edge < g->first[i + 1]);
            assert_int_equal(g->to[edge++], to - 1);
        }
    }
    assert_int_equal(g->first[g->count], edge);
    arena_release(&arena);
}

/* If this fails, pointers are missed or invented: live blocks seem lost, or a path leads through
 * blocks that do not point to each other. */
static void
pointers_are_those_that_a_bisection_finds(void **state)
{
    struct fake *f = xmalloc(sizeof *f);

    (void)state;
    for (int trial = 0; trial < 60; trial++) {
        struct arena arena = {0};
        struct block_graph g;
        struct roots roots;
        uint64_t *words = (uint64_t *)(f->bytes + HEAP_BYTES), *extents;
        size_t found = 0;

        fake_fill(f, trial % 3 == 0 ? 8 : 16, trial % 3 == 1);
        block_graph_read(&f->e, scan_extents(&f->e, &arena), &arena, &g, &roots);
        compare_edges(f, &g);
        extents = scan_extents(&f->e, &arena);
        for (size_t i = 0; i < GLOBALS_BYTES / sizeof *words; i++) {
            size_t to = scan_block_at(&f->e, extents, words[i]);

            if (to == 0)
                continue;
            assert_true(found < roots.word_count);
            assert_int_equal(roots.words[found].at, GLOBALS + i * sizeof *words);
            assert_int_equal(roots.words[found++].to, to - 1);
        }
        roots_release(&roots);
        block_graph_release(&g);
        arena_release(&arena);
    }
    free(f);
}

/* If this fails, a pointer into the middle of a large block is missed, or an address far from all
 * blocks is taken for one in a block. */
static void
an_index_finds_large_and_distant_blocks(void **state)
{
    struct block v[] = {{.address = 0x1000010, .size_bytes = 16},
                        {.address = 0x2000040, .size_bytes = UINT64_C(5) << 24},
                        {.address = 0x7f0000000010, .size_bytes = 0}};
    struct blocks b = {.v = v, .count = countof(v)};
    uint64_t extents[] = {16, UINT64_C(5) << 24, 1};
    struct block_index x;

    (void)state;
    block_index_build(&b, extents, &x);
    assert_int_equal(block_index_find(&x, 0x100000f), 0);
    assert_int_equal(block_index_find(&x, 0x100001f), 1);
    assert_int_equal(block_index_find(&x, 0x1000020), 0);
    assert_int_equal(block_index_find(&x, 0x2000000), 0);
    assert_int_equal(block_index_find(&x, 0x5000000), 2);
    assert_int_equal(block_index_find(&x, 0x700003f), 2);
    assert_int_equal(block_index_find(&x, 0x7000040), 0);
    assert_int_equal(block_index_find(&x, 0x500000000000), 0);
    assert_int_equal(block_index_find(&x, 0x7f0000000010), 3);
    assert_int_equal(block_index_find(&x, 0x7f0000000011), 0);
    assert_int_equal(block_index_find(&x, UINT64_MAX), 0);
    block_index_release(&x);
}

/* If this fails, a process without blocks ends the command. */
static void
no_blocks_have_no_pointers(void **state)
{
    struct fake *f = xmalloc(sizeof *f);
    struct arena arena = {0};
    struct block_graph g;
    struct roots roots;

    (void)state;
    fake_fill(f, 16, false);
    f->e.blocks.count = 0;
    block_graph_read(&f->e, scan_extents(&f->e, &arena), &arena, &g, &roots);
    assert_int_equal(g.count, 0);
    assert_int_equal(roots.word_count, 0);
    roots_release(&roots);
    block_graph_release(&g);
    arena_release(&arena);
    free(f);
}

/* If this fails, a block that only a thread-local variable of main keeps seems to have a second
 * root: the dynamic linker maps these variables without malloc. */
static void
thread_local_variables_are_searched_once(void **state)
{
    enum { LINKER = 0x50000, LINKER_BYTES = 0x10000, POINTER = LINKER + 0xc000 };
    struct memory_region region = {.start = LINKER,
                                   .end = LINKER + LINKER_BYTES,
                                   .readable_bytes = LINKER_BYTES,
                                   .access = MEMORY_READ | MEMORY_WRITE};
    struct memory_thread thread = {.tid = 1, .pointer = POINTER};
    struct examined e = {.memory = {.word_bytes = 8, .regions = &region, .region_count = 1,
                                    .threads = &thread, .thread_count = 1, .pid = 1}};
    struct arena arena = {0};
    struct scan_range *found;
    uint64_t bytes = 0;
    size_t count = scan_ranges(&e, &arena, &found);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        bytes += found[i].end - found[i].start;
        assert_int_equal(found[i].is_tls, found[i].kind == SCAN_STACK);
        assert_int_equal(found[i].is_tls, POINTER - found[i].start <
                                              found[i].end - found[i].start);
    }
    assert_int_equal(bytes, LINKER_BYTES);
    assert_int_equal(count, 3);
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dominators_are_those_of_a_search_without_each_node),
        cmocka_unit_test(a_list_of_a_million_nodes_has_each_node_below_the_one_before),
        cmocka_unit_test(a_path_is_the_shortest_from_the_most_certain_root),
        cmocka_unit_test(lost_blocks_are_led_by_those_without_pointers_or_the_first_of_a_ring),
        cmocka_unit_test(pointers_are_those_that_a_bisection_finds),
        cmocka_unit_test(an_index_finds_large_and_distant_blocks),
        cmocka_unit_test(no_blocks_have_no_pointers),
        cmocka_unit_test(thread_local_variables_are_searched_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
