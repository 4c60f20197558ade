/* test_fold_runtime.c: which frames of an interpreter are folded, and to which frame their memory
 * is charged. If this fails, people read frames of the interpreter instead of their script, or
 * bytes are charged to another stack. In these tests, frames of .lua files are the script's, and
 * frames of lvm.c belong to the runtime. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/frame_name.h"
#include "analyse/stacks.h"
#include "build_profile.h"
#include "profile/time_slice.h"

static struct arena arena;

/* Set the properties of P's frames by their files. */
static void
mark(struct profile *p)
{
    for (size_t i = 1; i < p->location_count; i++) {
        struct profile_location *l = &p->locations[i];
        struct profile_frame *f = &p->frames[l->first_frame];
        const char *file = profile_string(p, f->file);

        l->runtime = strcmp(file, "lvm.c") == 0;
        if (strstr(file, ".lua") != NULL)
            f->language = strtab_id(&p->strings, "Lua");
    }
}

/* Return the stack of SITE as text, innermost function first. */
static const char *
fold_runtime_text_of(const struct profile *p, uint32_t site)
{
    struct stack s = stack_of_node(p, p->sites[site].node, &arena);
    const char *text = "";

    for (uint32_t i = 0; i < s.depth; i++)
        text = arena_printf(&arena, "%s%s%s", text, i ? " " : "",
                            frame_name(p, s.frames[i], s.locations[i], &arena));
    return text;
}

/* If this fails, luaV_execute appears between the functions of a script, or above them. */
static void
the_runtime_goes_from_both_sides_of_named_frames(void **state)
{
    struct profile *p = build_profile_new();
    uint32_t site = build_site(p, build_counters(1, 10, 0, 0), "resize@lvm.c:1", "insert@a.lua:7",
                               "fill@a.lua:19", "execute@lvm.c:5", "callback@own.c:3",
                               "precall@lvm.c:2", "start@a.lua:1", "execute@lvm.c:5",
                               "pcall@lvm.c:6", "main@own.c:9", NULL);

    (void)state;
    mark(p);
    fold_runtime(p);
    assert_string_equal(fold_runtime_text_of(p, site), "insert fill callback start main");
    profile_free(p);
}

/* If this fails, the interpreter's own allocations, at start-up or for compiling, are shown with
 * main as their only frame. */
static void
a_stack_without_named_frames_stays_as_it_was(void **state)
{
    struct profile *p = build_profile_new();
    uint32_t named = build_site(p, build_counters(1, 10, 0, 0), "execute@lvm.c:5", "start@a.lua:1",
                                "pcall@lvm.c:6", "main@own.c:9", NULL);
    uint32_t plain = build_site(p, build_counters(1, 20, 0, 0), "new@lvm.c:7", "pcall@lvm.c:6",
                                "main@own.c:9", NULL);

    (void)state;
    mark(p);
    fold_runtime(p);
    assert_string_equal(fold_runtime_text_of(p, named), "start main");
    assert_string_equal(fold_runtime_text_of(p, plain), "new pcall main");
    profile_free(p);
}

/* If this fails, a function of a script has a separate row for each function of the interpreter
 * that allocates for it. */
static void
what_the_runtime_allocates_for_a_function_is_one_stack(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks_options options = {0};
    struct stacks stacks;
    struct err err = {""};

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "resize@lvm.c:1", "fill@a.lua:19", "main@own.c:9",
               NULL);
    build_site(p, build_counters(2, 300, 0, 0), "string@lvm.c:2", "fill@a.lua:19",
               "execute@lvm.c:5", "main@own.c:9", NULL);
    mark(p);
    fold_runtime(p);
    assert_int_equal(stacks_build(p, &options, &arena, &stacks, &err), 0);
    assert_int_equal(stacks.count, 1);
    assert_int_equal(stacks.v[0].counters.allocated_bytes, 310);
    assert_int_equal(stacks.v[0].counters.allocations, 3);
    profile_free(p);
}

/* If this fails, a truncated stack looks whole once the frame where it was cut is folded. */
static void
a_cut_stack_is_still_known_to_be_cut(void **state)
{
    struct profile *p = build_profile_new();
    uint32_t site = build_site(p, build_counters(1, 10, 0, 0), "fill@a.lua:19", "execute@lvm.c:5",
                               NULL);
    struct stack s;

    (void)state;
    mark(p);
    p->nodes[p->nodes[p->sites[site].node].parent].flags = NODE_TRUNCATED;
    fold_runtime(p);
    s = stack_of_node(p, p->sites[site].node, &arena);
    assert_int_equal(s.depth, 1);
    assert_int_equal(s.flags, NODE_TRUNCATED);
    profile_free(p);
}

/* If this fails, the overrun of a block is shown with the interpreter's stack, while other data
 * about that stack is shown with the script's. */
static void
damages_follow_their_stacks(void **state)
{
    struct profile *p = build_profile_new();
    uint32_t site = build_site(p, build_counters(1, 10, 0, 0), "resize@lvm.c:1", "fill@a.lua:19",
                               "execute@lvm.c:5", "main@own.c:9", NULL);
    uint32_t node = p->sites[site].node;
    struct profile_corruption corruptions[] = {
        {.node = node, .site_node = node, .front_node = node}, {0}};

    (void)state;
    mark(p);
    p->corruptions = corruptions;
    p->corruption_count = countof(corruptions);
    fold_runtime(p);
    assert_string_equal(fold_runtime_text_of(p, site), "fill main");
    assert_int_not_equal(p->sites[site].node, node);
    assert_int_equal(corruptions[0].node, p->sites[site].node);
    assert_int_equal(corruptions[0].site_node, p->sites[site].node);
    assert_int_equal(corruptions[0].front_node, p->sites[site].node);
    assert_int_equal(corruptions[1].node, 0);
    profile_free(p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_runtime_goes_from_both_sides_of_named_frames),
        cmocka_unit_test(a_stack_without_named_frames_stays_as_it_was),
        cmocka_unit_test(what_the_runtime_allocates_for_a_function_is_one_stack),
        cmocka_unit_test(a_cut_stack_is_still_known_to_be_cut),
        cmocka_unit_test(damages_follow_their_stacks),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);

    arena_release(&arena);
    return failures;
}
