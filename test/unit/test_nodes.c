/* test_nodes.c: the call tree compared with a naive list of (parent, frame), also with several
 * threads that add nodes at once. If this fails, different stacks are merged, or one stack is split
 * over several nodes. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fake_recorder.h"

#include "platform/mem.c"
#include "platform/memory_share.c"
#include "account/nodes.c"
#include "account/segments.c"
#include "platform/sys.c"

/* Stub: without a file, tables are mapped as a whole from the start. */
uint64_t
table_take(struct table *t, uint64_t count)
{
    uint64_t index = add_relaxed(&t->used, count);

    return (index + count) * t->record_bytes <= t->mapped_bytes ? index : TABLE_NONE;
}

static size_t node_limit;
static struct disk_header header;

static int
nodes_begin(void **unused)
{
    struct table *t;

    (void)unused;
    fake_state_begin();
    state->header = &header;
    t = &state->tables[DISK_NODES];
    t->record_bytes = sizeof(struct disk_node);
    t->mapped_bytes = t->max_bytes = node_limit * sizeof(struct disk_node);
    t->base = mem_private(t->max_bytes);
    account_state()->nodes = (struct disk_node *)(void *)t->base;
    return nodes_start() ? 0 : -1;
}

static int
begin_large(void **unused)
{
    node_limit = 1 << 18;
    return nodes_begin(unused);
}

/* Allow more nodes than the index initially has room for. */
static int
begin_huge(void **unused)
{
    node_limit = 5 << NODES_FIRST_BITS;
    return nodes_begin(unused);
}

static int
begin_small(void **unused)
{
    node_limit = 64;
    return nodes_begin(unused);
}

static int
nodes_end(void **unused)
{
    (void)unused;
    mem_release_all();
    fake_state_end();
    return 0;
}

/* If this fails, a function with thousands of callees gets a new node for each event, until the
 * tree is full and all further stacks are "other". */
static void
children_are_found_again(void **unused)
{
    enum { CHILDREN = 20000 };
    uint32_t *ids = calloc(CHILDREN, sizeof *ids);

    (void)unused;
    for (uint32_t i = 0; i < CHILDREN; i++)
        ids[i] = nodes_child(DISK_NODE_ROOT, 0x400000 + i * UINT64_C(7), 0);
    for (uint32_t i = 0; i < CHILDREN; i++) {
        assert_int_equal(nodes_child(DISK_NODE_ROOT, 0x400000 + i * UINT64_C(7), 0), ids[i]);
        assert_true(ids[i] >= DISK_NODE_FIRST);
        assert_int_equal(account_state()->nodes[ids[i]].frame, 0x400000 + i * UINT64_C(7));
        for (uint32_t k = i + 1; k < CHILDREN && k < i + 10; k++)
            assert_int_not_equal(ids[i], ids[k]);
    }
    free(ids);
}

/* The root has WIDE children with NEXT_CHILDREN children each, and each of these has one child. */
enum { WIDE = 300000, NEXT_CHILDREN = 3 };

static uint32_t
grown_child(uint32_t i, uint32_t k)
{
    uint32_t parent = nodes_child(DISK_NODE_ROOT, 0x1000000 + i, 0);
    uint32_t child = nodes_child(parent, 0x2000000 + k, 0);

    assert_int_equal(account_state()->nodes[child].parent, parent);
    return nodes_child(child, 0x3000000, 0);
}

/* If this fails, stacks beyond the first million frames are lost, or charged to the wrong callers,
 * or each event adds its stack again. */
static void
a_tree_grows_beyond_the_first_segments(void **unused)
{
    uint64_t used;

    (void)unused;
    for (uint32_t i = 0; i < WIDE; i++)
        for (uint32_t k = 0; k < NEXT_CHILDREN; k++)
            assert_true(grown_child(i, k) >= DISK_NODE_FIRST);
    used = state->tables[DISK_NODES].used;
    assert_int_equal(used, DISK_NODE_FIRST + WIDE * (1 + 2 * NEXT_CHILDREN));
    for (uint32_t i = 0; i < WIDE; i += 999)
        for (uint32_t k = 0; k < NEXT_CHILDREN; k++) {
            uint32_t node = grown_child(i, k);
            const struct disk_node *n = account_state()->nodes;

            assert_int_equal(n[node].frame, 0x3000000);
            assert_int_equal(n[n[node].parent].frame, 0x2000000 + k);
            assert_int_equal(n[n[n[node].parent].parent].frame, 0x1000000 + i);
        }
    assert_int_equal(state->tables[DISK_NODES].used, used);
}

/* If this fails, a program with a limit on address space cannot use the space that a large tree has
 * reserved, or the index loses nodes in use. */
static void
a_grown_index_is_given_back_behind_the_nodes_in_use(void **unused)
{
    struct table *t = &state->tables[DISK_NODES];
    uint64_t before_bytes = t->max_bytes, used;
    uint32_t last;

    (void)unused;
    for (uint32_t i = 0; i < WIDE; i++)
        grown_child(i, 0);
    used = t->used;
    t->max_bytes = t->mapped_bytes = (used + 1) * sizeof(struct disk_node);
    nodes_give_back(before_bytes);
    last = grown_child(WIDE - 1, 0);
    assert_int_equal(t->used, used);
    assert_int_equal(nodes_child(last, 5, 0), DISK_NODE_OTHER);
    // The page after the last used node was unmapped.
    assert_true(mem_is_mapped(nodes_first_child((uint32_t)used - 1)));
    assert_false(mem_is_mapped(nodes_first_child((uint32_t)used) + 4096));
}

/* If this fails, memory that a function allocates for one caller is charged to another caller. */
static void
the_same_frame_under_two_parents_is_two_nodes(void **unused)
{
    uint32_t a = nodes_child(DISK_NODE_ROOT, 1, 0), b = nodes_child(DISK_NODE_ROOT, 2, 0);

    (void)unused;
    assert_int_not_equal(nodes_child(a, 3, 0), nodes_child(b, 3, 0));
    assert_int_equal(account_state()->nodes[nodes_child(a, 3, 0)].parent, a);
}

/* If this fails, a program with more stacks than the tree can hold loses events, or writes beyond
 * the table. */
static void
a_full_tree_gives_other(void **unused)
{
    uint32_t last = 0;

    (void)unused;
    for (uint32_t i = 0; i < 1000; i++)
        last = nodes_child(DISK_NODE_ROOT, 0x1000 + i, 0);
    assert_int_equal(last, DISK_NODE_OTHER);
    assert_int_equal(nodes_child(last, 5, 0), DISK_NODE_OTHER);
    assert_int_equal(nodes_site(account_state()->nodes[DISK_NODE_OTHER].site, 1), 1);
    assert_int_equal(nodes_site(account_state()->nodes[DISK_NODE_OTHER].site, 1 << 20), 4);
}

static int
begin_medium(void **unused)
{
    node_limit = 4096;
    return nodes_begin(unused);
}

/* Frames of stack number N, innermost first: one of LEAVES functions, called from a new place each
 * time. */
enum { LEAVES = 10, DEEP = 20 };

static void
make_stack(struct nodes_frame *frames, uint64_t number)
{
    frames[0] = (struct nodes_frame){0x1000 + number % LEAVES, 0};
    for (uint64_t i = 1; i < DEEP; i++)
        frames[i] = (struct nodes_frame){0x100000 + hash_u64(number << 8 | i) % 0x100000, 0};
}

static uint32_t
add_whole(const struct nodes_frame *frames)
{
    uint32_t node = DISK_NODE_ROOT;

    for (uint32_t i = DEEP; i-- > 0;)
        node = nodes_child(node, frames[i].frame, 0);
    return node;
}

static uint32_t
depth_of(uint32_t node)
{
    uint32_t depth = 0;

    for (; node >= DISK_NODE_FIRST && account_state()->nodes[node].frame != DISK_SHORTENED; depth++)
        node = account_state()->nodes[node].parent;
    return depth;
}

/* If this fails, memory that a program allocates after very many different stacks is charged to no
 * stack, and its profile covers only the first part of the run. */
static void
a_filling_tree_keeps_the_innermost_frames(void **unused)
{
    struct nodes_frame frames[DEEP];
    uint32_t depth_before = DEEP, whole = 0;

    (void)unused;
    for (uint64_t i = 0; i < 5000; i++) {
        uint32_t node, depth;

        make_stack(frames, i);
        node = add_whole(frames);
        whole += node != DISK_NODE_OTHER;
        if (node == DISK_NODE_OTHER)
            node = nodes_shorten(frames, DEEP, DISK_NODE_ROOT);
        assert_int_not_equal(node, DISK_NODE_OTHER);
        assert_int_equal(account_state()->nodes[node].frame, frames[0].frame);
        depth = depth_of(node);
        assert_true(depth <= depth_before);
        depth_before = depth;
    }
    assert_int_equal(depth_before, 1);
    assert_in_range(whole * DEEP, node_limit / 2, node_limit * 3 / 4);
}

/* If this fails, the millionth stack that allocates takes the last site, and the functions of all
 * later stacks are lost: their blocks are charged to "other". */
static void
stacks_are_shortened_before_sites_run_out(void **unused)
{
    struct nodes_frame frames[DEEP];
    uint32_t node;

    (void)unused;
    make_stack(frames, 1);
    account_state()->sites = (uint64_t)LIMIT_SITES * 3 / 4 - 1;
    assert_int_not_equal(add_whole(frames), DISK_NODE_OTHER);
    make_stack(frames, 2);
    account_state()->sites = (uint64_t)LIMIT_SITES * 3 / 4 + 1;
    assert_int_equal(add_whole(frames), DISK_NODE_OTHER);
    node = nodes_shorten(frames, DEEP, DISK_NODE_ROOT);
    assert_int_equal(account_state()->nodes[node].frame, frames[0].frame);
    assert_int_equal(depth_of(node), 16);
    assert_true(nodes_site(account_state()->nodes[node].site, 1) > DISK_SIZE_CLASSES);
}

/* If this fails, labels are lost as soon as stacks are, and with them their functions. */
static void
a_tree_full_of_stacks_has_room_for_tags(void **unused)
{
    struct nodes_frame frames[DEEP];
    uint32_t node = DISK_NODE_OTHER, tag;

    (void)unused;
    for (uint64_t i = 0; i < 5000; i++) {
        make_stack(frames, i);
        node = nodes_shorten(frames, DEEP, DISK_NODE_ROOT);
    }
    tag = nodes_tag(node, DISK_TAG_LABELS, 1);
    assert_int_not_equal(tag, DISK_NODE_OTHER);
    assert_int_equal(account_state()->nodes[tag].parent, node);
    assert_int_equal(account_state()->nodes[tag].flags, DISK_NODE_TAG);
}

/* If this fails, a stack that is whole, or short, looks truncated. */
static void
a_stack_of_few_frames_is_not_shortened(void **unused)
{
    struct nodes_frame frames[DEEP];
    uint32_t node;

    (void)unused;
    for (uint64_t i = 0; i < 200; i++) {
        make_stack(frames, i);
        add_whole(frames);
    }
    node = nodes_shorten(frames, 3, DISK_NODE_BROKEN);
    assert_int_equal(account_state()->nodes[node].frame, frames[0].frame);
    node = account_state()
               ->nodes[account_state()->nodes[account_state()->nodes[node].parent].parent]
               .parent;
    assert_int_equal(node, DISK_NODE_BROKEN);
}

/* If this fails, small and large blocks of one stack are confused, and tables by size class are
 * wrong. */
static void
size_classes_are_sites_of_their_own(void **unused)
{
    uint32_t n = nodes_child(DISK_NODE_ROOT, 9, 0);

    (void)unused;
    assert_int_equal(nodes_site(account_state()->nodes[n].site, 0),
                     nodes_site(account_state()->nodes[n].site, 32));
    assert_int_not_equal(nodes_site(account_state()->nodes[n].site, 32),
                         nodes_site(account_state()->nodes[n].site, 33));
    assert_int_equal(nodes_site(account_state()->nodes[n].site, 256),
                     nodes_site(account_state()->nodes[n].site, 33));
    assert_int_not_equal(nodes_site(account_state()->nodes[n].site, 2048),
                         nodes_site(account_state()->nodes[n].site, 2049));
}

enum { THREADS = 4, FRAMES = 3000 };
static uint32_t seen[THREADS][FRAMES];

static void *
add_all(void *arg)
{
    uint32_t *ids = arg;

    for (uint32_t i = 0; i < FRAMES; i++)
        ids[i] = nodes_child(DISK_NODE_ROOT, 0x10000 + i, 0);
    return NULL;
}

/* Threads that add the same children at once get the same nodes. Only children that overflowed at
 * the same instant may exist twice (nodes.c explains why); later look-ups agree on one node. If
 * this fails, a stack that many threads share is split over several sites. */
static void
threads_agree_on_children(void **unused)
{
    pthread_t threads[THREADS];
    uint32_t differing = 0;

    (void)unused;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_all, seen[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t f = 0; f < FRAMES; f++) {
        for (int i = 1; i < THREADS; i++)
            differing += seen[i][f] != seen[0][f];
        assert_int_equal(account_state()->nodes[seen[0][f]].frame, 0x10000 + f);
        assert_int_equal(nodes_child(DISK_NODE_ROOT, 0x10000 + f, 0),
                         nodes_child(DISK_NODE_ROOT, 0x10000 + f, 0));
    }
    assert_true(differing < FRAMES / 100);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(children_are_found_again, begin_large, nodes_end),
        cmocka_unit_test_setup_teardown(a_tree_grows_beyond_the_first_segments, begin_huge,
                                        nodes_end),
        cmocka_unit_test_setup_teardown(a_grown_index_is_given_back_behind_the_nodes_in_use,
                                        begin_huge, nodes_end),
        cmocka_unit_test_setup_teardown(the_same_frame_under_two_parents_is_two_nodes, begin_large,
                                        nodes_end),
        cmocka_unit_test_setup_teardown(a_full_tree_gives_other, begin_small, nodes_end),
        cmocka_unit_test_setup_teardown(a_filling_tree_keeps_the_innermost_frames, begin_medium,
                                        nodes_end),
        cmocka_unit_test_setup_teardown(stacks_are_shortened_before_sites_run_out, begin_large,
                                        nodes_end),
        cmocka_unit_test_setup_teardown(a_tree_full_of_stacks_has_room_for_tags, begin_medium,
                                        nodes_end),
        cmocka_unit_test_setup_teardown(a_stack_of_few_frames_is_not_shortened, begin_medium,
                                        nodes_end),
        cmocka_unit_test_setup_teardown(size_classes_are_sites_of_their_own, begin_large,
                                        nodes_end),
        cmocka_unit_test_setup_teardown(threads_agree_on_children, begin_large, nodes_end),
    };

    return cmocka_run_group_tests_name("nodes", tests, NULL, NULL);
}
