/* test_session.c: what is said of a run and of a session beyond the numbers: losses with their
 * causes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "build_profile.h"
#include "text/text_session.h"
#include "view/losses.h"

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
    };

    return cmocka_run_group_tests(tests, NULL, release);
}
