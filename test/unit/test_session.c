/* test_session.c: what is said of a run and of a session beyond the numbers: losses with their
 * causes, and names that tell processes apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "build_profile.h"
#include "text/text_session.h"
#include "view/losses.h"
#include "view/session_names.h"

static struct arena arena;

/* If this fails, "24 events not recorded" leaves the user to guess whether the profile is to be
 * trusted, as it did before. */
static void
a_loss_is_told_with_its_causes(void **state)
{
    struct profile_losses one = {.events = 24, .reentrant_events = 24};
    struct profile_losses two = {.events = 1200, .reentrant_events = 200, .early_events = 1000};
    struct profile_losses unknown = {.events = 3};

    (void)state;
    assert_string_equal(loss_causes(&arena, &one), "in signal handlers that interrupted the "
                                                   "recorder");
    assert_string_equal(loss_causes(&arena, &two),
                        "200 in signal handlers that interrupted the recorder; 1,000 in other "
                        "threads while it was starting");
    assert_string_equal(loss_causes(&arena, &unknown), "");
    assert_null(loss_remedy(&one));
    assert_non_null(strstr(loss_remedy(&two), "--reserve"));
}

/* If this fails, a session of many processes says how much it lost and not why. */
static void
a_session_adds_up_the_causes_of_its_losses(void **state)
{
    struct style plain = {.width = 80};
    struct profile *p[] = {build_profile_new(), build_profile_new()};
    struct view_set set = {.v = p, .count = 2};
    struct strbuf out = {0};

    (void)state;
    p[0]->losses = (struct profile_losses){.events = 2, .no_memory_events = 2};
    p[1]->losses = (struct profile_losses){.events = 5, .no_memory_events = 4, .heap_events = 1};
    text_session(&set, &plain, 0, &arena, &out);
    assert_non_null(strstr(out.text, "7 events not recorded: 6 because the recorder got no "
                                     "memory; 1 of heaps"));
    strbuf_release(&out);
    profile_free(p[0]);
    profile_free(p[1]);
}

/* The name that session_names gives process I of WHO, which has COUNT. */
static const char *
name_in(const struct session_who *who, size_t count, size_t i)
{
    const char **names = arena_array(&arena, count, sizeof *names);

    session_names(who, count, &arena, names);
    return names[i];
}

/* If this fails, twelve compilers are twelve equal lines, and the one with the large peak is found
 * by nobody. */
static void
processes_of_a_program_are_told_apart_by_what_differs(void **state)
{
    static const struct session_who who[] = {
        {"cc1plus", "/usr/lib/cc1plus -quiet -O2 lexer.cc -dumpbase lexer.cc -o /tmp/ccA.s", ""},
        {"cc1plus", "/usr/lib/cc1plus -quiet -O2 -g parser.cc -dumpbase parser.cc -o /tmp/ccB.s",
         "cc1plus"},
        {"cc1plus", "/usr/lib/cc1plus -quiet -O2 -g main.cc -dumpbase main.cc -o /tmp/ccC.s", ""},
        {"make", "make  -j4 all", "make"},
        {"x86_64-linux-gnu-as", "/usr/bin/as --64 -o /tmp/ccD.o /tmp/ccA.s", "as"},
        {"x86_64-linux-gnu-as", "as --64 -o /tmp/ccE.o /tmp/ccB.s", "as"},
        {"", "", ""},
    };

    (void)state;
    assert_string_equal(name_in(who, countof(who), 0), "cc1plus lexer.cc");
    assert_string_equal(name_in(who, countof(who), 1), "cc1plus parser.cc -g");
    assert_string_equal(name_in(who, countof(who), 2), "cc1plus main.cc -g");
    assert_string_equal(name_in(who, countof(who), 3), "make -j4 all");
    assert_string_equal(name_in(who, countof(who), 4), "as /tmp/ccD.o /tmp/ccA.s");
    assert_string_equal(name_in(who, countof(who), 6), "?");
}

/* If this fails, the workers of a server, whose arguments are equal, are one word repeated, or each
 * script has its own name twice. */
static void
a_name_that_a_process_gave_itself_is_shown(void **state)
{
    static const struct session_who who[] = {
        {"postgres", "postgres -D /data", "postgres"},
        {"postgres", "postgres -D /data", "checkpointer"},
        {"postgres", "postgres -D /data", "walwriter"},
        {"bash", "/bin/bash ./build-everything.sh", "build-everythin"},
        {"python3.11", "", "python3"},
    };

    (void)state;
    assert_string_equal(name_in(who, countof(who), 0), "postgres");
    assert_string_equal(name_in(who, countof(who), 1), "postgres [checkpointer]");
    assert_string_equal(name_in(who, countof(who), 2), "postgres [walwriter]");
    assert_string_equal(name_in(who, countof(who), 3), "bash ./build-everything.sh");
    assert_string_equal(name_in(who, countof(who), 4), "python3.11");
}

/* If this fails, long directories push the file's name, which is what differs, out of the line. */
static void
a_long_name_loses_its_directories(void **state)
{
    (void)state;
    assert_string_equal(session_name_fit(&arena, "cc1plus src/a.cc", 16), "cc1plus src/a.cc");
    assert_string_equal(session_name_fit(&arena, "cc1plus src/a.cc", 15), "cc1plus a.cc");
    assert_string_equal(session_name_fit(&arena, "ls /", 1), "ls /");
}

static int
release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loss_is_told_with_its_causes),
        cmocka_unit_test(a_session_adds_up_the_causes_of_its_losses),
        cmocka_unit_test(processes_of_a_program_are_told_apart_by_what_differs),
        cmocka_unit_test(a_name_that_a_process_gave_itself_is_shown),
        cmocka_unit_test(a_long_name_loses_its_directories),
    };

    return cmocka_run_group_tests(tests, NULL, release);
}
