/* test_tags.c: heaps and labels in the model that analyses use. If this fails, blocks of two arenas
 * with equal stacks become one, a filter keeps the wrong blocks, or a table loses bytes. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/callgraph.h"
#include "analyse/diff.h"
#include "analyse/group.h"
#include "build_profile.h"

static struct arena arena;

enum { ARENA = 1, POOL = 2, ACME = 1, GLOBEX = 2 };

/* Return a profile with five sites on one stack, of different heaps and labels, and one site on
 * another stack. */
static struct profile *
tagged_profile(void)
{
    struct profile *p = build_profile_new();
    static const struct {
        uint32_t heap, labels;
        int64_t bytes;
    } sites[] = {
        {0, 0, 1}, {ARENA, 0, 20}, {ARENA, ACME, 300}, {ARENA, GLOBEX, 4000}, {POOL, ACME, 50000}};

    build_heap(p, "arena");
    build_heap(p, "pool");
    build_labels(p, "kind", "get", "tenant", "acme", NULL);
    build_labels(p, "tenant", "globex", NULL);
    for (size_t i = 0; i < countof(sites); i++)
        build_tags(p,
                   build_site(p, build_counters(1, sites[i].bytes, 0, 0), "make@a.c:3",
                              "main@a.c:20", NULL),
                   sites[i].heap, sites[i].labels);
    build_site(p, build_counters(1, 600000, 0, 0), "main@a.c:21", NULL);
    return p;
}

static struct stacks
stacks_of(const struct profile *p, const struct stacks_options *options)
{
    struct stacks stacks;
    struct err err = {""};

    assert_int_equal(stacks_build(p, options, &arena, &stacks, &err), 0);
    return stacks;
}

static int64_t
passing_bytes(const struct profile *p, const char *heap, const char *label)
{
    struct stacks_options options = {.tags = {heap, label}};
    struct stacks stacks = stacks_of(p, &options);
    int64_t sum = 0;

    for (size_t i = 0; i < stacks.count; i++)
        sum += stacks.v[i].counters.allocated_bytes;
    assert_int_equal(sum, stacks.total.allocated_bytes);
    assert_int_equal(stacks.filtered, sum != p->totals.allocated_bytes || heap || label);
    return sum;
}

/* If this fails, blocks that one line allocates in an arena and from malloc have one row, which
 * belongs to neither. */
static void
equal_stacks_of_two_heaps_are_two(void **unused)
{
    struct profile *p = tagged_profile();
    struct stacks stacks = stacks_of(p, &(struct stacks_options){0});

    (void)unused;
    assert_int_equal(stacks.count, 6);
    for (size_t i = 0; i < 5; i++) {
        const struct stack *s = &stacks.v[stacks.site_stacks[i] - 1];

        assert_int_equal(s->heap, p->sites[i].heap);
        assert_int_equal(s->labels, p->sites[i].labels);
        assert_int_equal(s->counters.allocated_bytes, p->sites[i].counters.allocated_bytes);
    }
    profile_free(p);
}

/* If this fails, a view without labels lists one stack once for each tenant, or attributes the
 * labels of one tenant to a stack of several. */
static void
labels_merge_where_that_is_asked_for(void **unused)
{
    struct profile *p = tagged_profile();
    struct stacks stacks = stacks_of(p, &(struct stacks_options){.merge_labels = true});

    (void)unused;
    assert_int_equal(stacks.count, 4);
    assert_int_equal(stacks.site_stacks[1], stacks.site_stacks[2]);
    assert_int_equal(stacks.site_stacks[1], stacks.site_stacks[3]);
    assert_int_equal(stacks.v[stacks.site_stacks[3] - 1].counters.allocated_bytes, 4320);
    assert_true(stacks.v[stacks.site_stacks[3] - 1].labels == STACK_LABELS_SEVERAL);
    assert_int_equal(stacks.v[stacks.site_stacks[4] - 1].labels, ACME);
    profile_free(p);
}

/* If this fails, --heap and --label show bytes of another heap or tenant, or omit bytes of the
 * named one. */
static void
filters_pass_what_they_name(void **unused)
{
    struct profile *p = tagged_profile();

    (void)unused;
    assert_int_equal(passing_bytes(p, NULL, NULL), 654321);
    assert_int_equal(passing_bytes(p, "malloc", NULL), 600001);
    assert_int_equal(passing_bytes(p, "arena", NULL), 4320);
    assert_int_equal(passing_bytes(p, "*o*", NULL), 650001);
    assert_int_equal(passing_bytes(p, "aren", NULL), 0);
    assert_int_equal(passing_bytes(p, NULL, "tenant"), 54300);
    assert_int_equal(passing_bytes(p, NULL, "tenant=acme"), 50300);
    assert_int_equal(passing_bytes(p, NULL, "tenant=*"), 54300);
    assert_int_equal(passing_bytes(p, NULL, "kind=get"), 50300);
    assert_int_equal(passing_bytes(p, NULL, "ten"), 0);
    assert_int_equal(passing_bytes(p, NULL, "tenant="), 0);
    assert_int_equal(passing_bytes(p, "arena", "tenant=acme"), 300);
    profile_free(p);
}

/* Return each group of STACKS by BY as "name bytes"; each grouping divides all bytes. */
static const char *
grouped(const struct profile *p, const struct stacks *stacks, enum group_by by, const char *key)
{
    const char *text = "";
    struct groups groups;
    int64_t sum = 0;

    group_stacks(p, stacks, by, key, METRIC_ALLOC, &arena, &groups);
    for (size_t i = 0; i < groups.count; i++) {
        const struct group_row *r = &groups.v[i];
        const char *name = by == BY_HEAP ? r->heap->name : r->labels ? r->labels : "-";

        text = arena_printf(&arena, "%s%s %" PRId64 "\n", text, name, r->self.allocated_bytes);
        sum += r->self.allocated_bytes;
    }
    assert_int_equal(sum, stacks->total.allocated_bytes);
    return text;
}

/* If this fails, --by heap and --by label count bytes twice, or blocks without a label are in no
 * row. */
static void
groups_share_everything_out(void **unused)
{
    struct profile *p = tagged_profile();
    struct stacks_options merged = {.merge_labels = true}, arena_only = {.tags = {"arena", NULL}};
    struct stacks stacks = stacks_of(p, &merged);

    (void)unused;
    build_heap(p, "empty");
    assert_string_equal(grouped(p, &stacks, BY_HEAP, NULL),
                        "malloc 600001\npool 50000\narena 4320\nempty 0\n");
    assert_string_equal(grouped(p, &stacks, BY_LABEL, NULL),
                        " 600021\nkind=get, tenant=acme 50300\ntenant=globex 4000\n");
    assert_string_equal(grouped(p, &stacks, BY_LABEL_VALUE, "tenant"),
                        "- 600021\nacme 50300\nglobex 4000\n");
    assert_string_equal(grouped(p, &stacks, BY_LABEL_VALUE, "kind"), "- 604021\nget 50300\n");
    stacks = stacks_of(p, &arena_only);
    assert_string_equal(grouped(p, &stacks, BY_HEAP, NULL), "arena 4320\n");
    assert_string_equal(grouped(p, &stacks, BY_LABEL_VALUE, "tenant"),
                        "globex 4000\nacme 300\n- 20\n");
    profile_free(p);
}

/* If this fails, collapsed stacks and flame graphs by heap or label have the wrong root, or a row
 * of the report does not name its heap. */
static void
tags_are_named_in_roots_and_lines(void **unused)
{
    struct profile *p = tagged_profile();
    struct tag_roots heap = {ROOT_HEAP, NULL}, labels = {ROOT_LABELS, NULL},
                     tenant = {ROOT_VALUE, "tenant"}, none = {0};

    (void)unused;
    assert_null(tags_root(p, &none, ARENA, ACME, &arena));
    assert_string_equal(tags_root(p, &heap, 0, ACME, &arena), "[malloc]");
    assert_string_equal(tags_root(p, &heap, POOL, 0, &arena), "[heap pool]");
    assert_string_equal(tags_root(p, &labels, POOL, ACME, &arena), "[kind=get, tenant=acme]");
    assert_string_equal(tags_root(p, &labels, POOL, 0, &arena), "[without labels]");
    assert_string_equal(tags_root(p, &tenant, POOL, GLOBEX, &arena), "[tenant=globex]");
    assert_string_equal(tags_root(p, &tenant, POOL, 0, &arena), "[without tenant]");
    assert_string_equal(tags_text(&p->heaps[0], &p->label_sets[0], &arena), "");
    assert_string_equal(tags_text(&p->heaps[ARENA], &p->label_sets[0], &arena), "[heap arena]");
    assert_string_equal(tags_text(&p->heaps[ARENA], &p->label_sets[GLOBEX], &arena),
                        "[heap arena]  tenant=globex");
    assert_string_equal(tags_text(&p->heaps[0], NULL, &arena), "with different labels");
    profile_free(p);
}

/* Ids of heaps and labels differ from run to run. If this fails, `diff` compares the arena of one
 * run with the pool of the next. */
static void
diff_matches_heaps_and_labels_by_name(void **unused)
{
    struct profile *p = tagged_profile(), *q = tagged_profile();
    struct stacks of_p = stacks_of(p, &(struct stacks_options){0}), of_q;
    struct diff_side before = {p, &of_p}, after = {q, &of_q};
    struct diff diff;

    (void)unused;
    q->heaps[ARENA].name = p->heaps[POOL].name;
    q->heaps[POOL].name = p->heaps[ARENA].name;
    of_q = stacks_of(q, &(struct stacks_options){0});
    diff_build(&before, &after, DIFF_BY_SITE, METRIC_ALLOC, &arena, &diff);
    assert_int_equal(diff.count, 8);
    for (size_t i = 0; i < diff.count; i++) {
        int64_t growth = diff_growth(&diff.rows[i].before, &diff.rows[i].after, METRIC_ALLOC);
        bool came = growth == 49700 || growth == -4000 || growth == -20;
        bool went = growth == -49700 || growth == 4000 || growth == 20;

        assert_int_equal(growth != 0, came || went);
        assert_string_equal(diff.rows[i].heap->name, came ? "arena" : went ? "pool" : "malloc");
    }
    profile_free(p);
    profile_free(q);
}

/* If this fails, `leaks` adds the leaks in an arena to those of malloc's callers. */
static void
paths_keep_heaps_apart(void **unused)
{
    struct profile *p = tagged_profile();
    struct stacks stacks = stacks_of(p, &(struct stacks_options){0});
    const struct stack *all[6];
    struct functions functions;
    struct paths paths;

    (void)unused;
    for (size_t i = 0; i < stacks.count; i++)
        all[i] = &stacks.v[i];
    functions_init(&functions, p, &arena);
    paths_build(&functions, all, stacks.count, &(struct paths_options){.callers = 5}, &arena,
                &paths);
    assert_int_equal(paths.count, 4);
    assert_int_equal(paths.v[1].stack->heap, POOL);
    assert_int_equal(paths.v[2].stack->heap, ARENA);
    assert_int_equal(paths.v[2].counters.allocated_bytes, 4320);
    functions_release(&functions);
    profile_free(p);
}

static int
tags_release(void **unused)
{
    (void)unused;
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stacks_of_two_heaps_are_two),
        cmocka_unit_test(labels_merge_where_that_is_asked_for),
        cmocka_unit_test(filters_pass_what_they_name),
        cmocka_unit_test(groups_share_everything_out),
        cmocka_unit_test(tags_are_named_in_roots_and_lines),
        cmocka_unit_test(diff_matches_heaps_and_labels_by_name),
        cmocka_unit_test(paths_keep_heaps_apart),
    };

    return cmocka_run_group_tests(tests, NULL, tags_release);
}
