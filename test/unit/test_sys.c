/* test_sys.c: if this fails, a walk or a read of foreign memory hits an unmapped page, and the
 * program dies; or readable memory is taken for unreadable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "platform/sys.c"

enum { PAGE_BYTES = 4096 };

/* If this fails, the recorder reads from an unmapped or unreadable page, or a probe changes the
 * signal mask. */
static void
only_what_is_mapped_can_be_read(void **unused)
{
    char *pages = mmap(NULL, 3 * (size_t)PAGE_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigset_t before = {{0}}, after = {{0}}; // The kernel fills in a part of the set.

    (void)unused;
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + PAGE_BYTES, PAGE_BYTES, PROT_NONE), 0);
    assert_int_equal(munmap(pages + 2 * PAGE_BYTES, PAGE_BYTES), 0);
    sigprocmask(SIG_SETMASK, NULL, &before);
    memset(pages, 0, PAGE_BYTES); // A readable word may have any value, including the expected one.
    assert_true(sys_is_readable((uint64_t)(uintptr_t)pages));
    assert_true(sys_is_readable((uint64_t)(uintptr_t)pages + PAGE_BYTES - 1));
    memset(pages, 0xff, PAGE_BYTES);
    assert_true(sys_is_readable((uint64_t)(uintptr_t)pages));
    assert_int_equal(mprotect(pages, PAGE_BYTES, PROT_READ), 0);
    assert_true(sys_is_readable((uint64_t)(uintptr_t)pages));
    assert_false(sys_is_readable((uint64_t)(uintptr_t)pages + PAGE_BYTES));
    assert_false(sys_is_readable((uint64_t)(uintptr_t)pages + 2 * PAGE_BYTES));
    assert_false(sys_is_readable(0));
    assert_false(sys_is_readable(UINT64_MAX));
    sigprocmask(SIG_SETMASK, NULL, &after);
    assert_memory_equal(&before, &after, sizeof before);
    munmap(pages, 2 * (size_t)PAGE_BYTES);
}

/* If this fails, a probe of memory that holds zeros sleeps, and a program that probes at each event
 * becomes a hundred times slower. */
static void
a_look_never_waits(void **unused)
{
    static const uint64_t zero[2];
    struct rusage before, after;

    (void)unused;
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < 1000; i++)
        assert_true(sys_is_readable((uint64_t)(uintptr_t)&zero[i % 2]));
    getrusage(RUSAGE_SELF, &after);
    assert_in_range(after.ru_nvcsw - before.ru_nvcsw, 0, 100);
}

/* This test runs last, because it cannot be undone. If this fails, a new thread in a program with a
 * reserve gets the id of a running thread, and uses that thread's row at the same time. */
static void
ids_that_are_made_up_are_nobodys(void **unused)
{
    int own = sys_gettid(), first, second;

    (void)unused;
    assert_int_equal(own, sys_gettid());
    sys_be_quiet();
    first = sys_gettid();
    second = sys_gettid();
    assert_int_not_equal(first, own);
    assert_int_not_equal(second, own);
    assert_int_not_equal(first, second);
    assert_in_range(first, 1, TID_LIMIT - 1);
    assert_in_range(second, 1, TID_LIMIT - 1);
    assert_false(sys_is_readable((uint64_t)(uintptr_t)&own)); // The probe would need a system call.
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_mapped_can_be_read),
        cmocka_unit_test(a_look_never_waits),
        cmocka_unit_test(ids_that_are_made_up_are_nobodys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
