/* test_fold_language.c: stacks of the program's language alone, and the choice of this view. If
 * this fails, the memory of a Python function is charged to another one, or is missing. In these
 * tests, frames of .py files and of "<frozen" files are Python's; frames of ceval.c belong to the
 * runtime. */
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
#include "profile/fold_language.h"
#include "profile/time_slice.h"

static struct arena arena;

#define BOOT "<frozen importlib._bootstrap>"
#define EXTERNAL "<frozen importlib._bootstrap_external>"

/* Set the properties of P's frames by their files, and reduce P to the language. */
static void
reduce(struct profile *p)
{
    for (size_t i = 1; i < p->location_count; i++) {
        struct profile_location *l = &p->locations[i];
        struct profile_frame *f = &p->frames[l->first_frame];
        const char *file = profile_string(p, f->file);

        l->runtime = strcmp(file, "ceval.c") == 0;
        if (strstr(file, ".py") != NULL || strncmp(file, "<frozen", 7) == 0)
            f->language = strtab_id(&p->strings, "Python");
    }
    fold_runtime(p);
    language_only(p);
}

/* Return the stack of SITE as text, innermost function first, with lines. */
static const char *
fold_language_text_of(const struct profile *p, uint32_t site)
{
    struct stack s = stack_of_node(p, p->sites[site].node, &arena);
    const char *text = "";

    for (uint32_t i = 0; i < s.depth; i++) {
        const struct profile_frame *f = &p->frames[s.frames[i]];

        text = arena_printf(&arena, "%s%s%s:%u", text, i ? ", " : "",
                            frame_name(p, s.frames[i], s.locations[i], &arena), f->line);
    }
    return text;
}

/* If this fails, the Python caller of a C extension lacks the memory of that extension. */
static void
c_code_is_charged_to_its_caller(void **state)
{
    struct profile *p = build_profile_new();
    uint32_t site = build_site(p, build_counters(1, 10, 0, 0), "grow@array.c:7", "load@a.py:19",
                               "call@array.c:3", "eval@ceval.c:1", "<module>@a.py:2",
                               "main@own.c:9", NULL);

    (void)state;
    reduce(p);
    assert_string_equal(fold_language_text_of(p, site), "load:19, <module>:2");
    profile_free(p);
}

/* If this fails, native memory is missing from the sums, or has a row for each C function. */
static void
stacks_without_the_language_are_one_frame(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks_options options = {0};
    struct stacks stacks;
    struct err err = {""};
    uint32_t site;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "load@a.py:19", "main@own.c:9", NULL);
    site = build_site(p, build_counters(2, 300, 0, 0), "start@ceval.c:7", "main@own.c:9", NULL);
    build_site(p, build_counters(3, 4000, 0, 0), "start@ceval.c:8", "other@own.c:1", NULL);
    build_site(p, build_counters(4, 50000, 0, 0), "main@own.c:9", NULL);
    reduce(p);
    assert_string_equal(fold_language_text_of(p, site), "native (no Python frame):0");
    assert_int_equal(stacks_build(p, &options, &arena, &stacks, &err), 0);
    assert_int_equal(stacks.count, 2);
    assert_int_equal(stacks.v[0].counters.allocated_bytes, 10);
    assert_int_equal(stacks.v[1].counters.allocated_bytes, 54300);
    assert_int_equal(stacks.v[1].counters.allocations, 9);
    profile_free(p);
}

/* If this fails, a stack that was cut below its Python functions claims to have none. */
static void
a_native_stack_that_was_cut_is_marked(void **state)
{
    struct profile *p = build_profile_new();
    uint32_t cut, whole;
    struct stack s;

    (void)state;
    build_site(p, build_counters(1, 90000, 0, 0), "load@a.py:19", NULL);
    whole = build_site(p, build_counters(1, 10, 0, 0), "grow@array.c:7", "main@own.c:9", NULL);
    cut = build_site(p, build_counters(1, 10, 0, 0), "grow@array.c:7", "call@array.c:3", NULL);
    p->nodes[p->nodes[p->sites[cut].node].parent].flags = NODE_TRUNCATED;
    reduce(p);
    s = stack_of_node(p, p->sites[cut].node, &arena);
    assert_int_equal(s.depth, 1);
    assert_int_equal(s.flags, NODE_TRUNCATED);
    s = stack_of_node(p, p->sites[whole].node, &arena);
    assert_int_equal(s.flags, 0);
    profile_free(p);
}

/* If this fails, the largest row of every Python program is the import system. */
static void
imports_are_charged_to_the_importing_line(void **state)
{
    struct profile *p = build_profile_new();
    uint32_t code, body, unknown, start, own;

    (void)state;
    code = build_site(p, build_counters(1, 10, 0, 0), "_compile_bytecode@" EXTERNAL ":729",
                      "_find_and_load@" BOOT ":1178", "<module>@/app/a.py:3", "main@own.c:9", NULL);
    body = build_site(p, build_counters(1, 10, 0, 0), "<module>@/app/numpy/core/__init__.py:8",
                      "exec@ceval.c:2", "_find_and_load@" BOOT ":1178", "<module>@/app/a.py:3",
                      "main@own.c:9", NULL);
    build_site(p, build_counters(1, 10, 0, 0), "<module>@/app/numpy/__init__.py:1",
               "_find_and_load@" BOOT ":1176", "<module>@/app/a.py:3", "main@own.c:9", NULL);
    unknown = build_site(p, build_counters(1, 10, 0, 0), "create_module@" EXTERNAL ":1",
                         "_find_and_load@" BOOT ":1178", "late@/app/a.py:9", "<module>@/app/a.py:4",
                         "main@own.c:9", NULL);
    start = build_site(p, build_counters(1, 10, 0, 0), "_find_and_load@" BOOT ":1178",
                       "main@own.c:9", NULL);
    own = build_site(p, build_counters(1, 10, 0, 0), "<module>@/app/a.py:3", "main@own.c:9", NULL);
    reduce(p);
    assert_string_equal(fold_language_text_of(p, code), "<module> (import numpy):3");
    assert_string_equal(fold_language_text_of(p, body),
                        "<module>:8, <module> (import numpy):3");
    assert_string_equal(fold_language_text_of(p, unknown), "late:9, <module>:4");
    assert_string_equal(fold_language_text_of(p, start), "import at start:0");
    assert_string_equal(fold_language_text_of(p, own), "<module>:3");
    profile_free(p);
}

/* Return true if P's program EXECUTABLE is an interpreter, when PYTHON bytes have Python frames and
 * NATIVE bytes have none. */
static bool
is_interpreter(const char *executable, int64_t python, int64_t native)
{
    struct profile *p = build_profile_new();
    bool ret;

    build_site(p, build_counters(1, python, 0, 0), "load@a.py:19", "main@own.c:9", NULL);
    build_site(p, build_counters(1, native, 0, 0), "main@own.c:9", NULL);
    for (size_t i = 1; i < p->module_count; i++)
        p->modules[i].path = executable;
    p->process.executable = executable;
    for (size_t i = 1; i < p->location_count; i++)
        if (p->frames[p->locations[i].first_frame].line == 19)
            p->frames[p->locations[i].first_frame].language = strtab_id(&p->strings, "Python");
    ret = profile_is_of_interpreter(p);
    profile_free(p);
    return ret;
}

/* If this fails, a C program that embeds Python loses its C functions, or Python programs show C
 * functions. */
static void
only_interpreters_with_most_bytes_in_scripts_are_reduced(void **state)
{
    (void)state;
    assert_true(is_interpreter("/usr/bin/python3.11", 100, 99));
    assert_false(is_interpreter("/usr/bin/python3.11", 100, 100));
    assert_false(is_interpreter("/usr/bin/blender", 100, 1));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_code_is_charged_to_its_caller),
        cmocka_unit_test(stacks_without_the_language_are_one_frame),
        cmocka_unit_test(a_native_stack_that_was_cut_is_marked),
        cmocka_unit_test(imports_are_charged_to_the_importing_line),
        cmocka_unit_test(only_interpreters_with_most_bytes_in_scripts_are_reduced),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);

    arena_release(&arena);
    return failures;
}
