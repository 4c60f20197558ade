/* test_oom.c: kills by the kernel, by the files that count them. If this fails, a report blames a
 * signal for the end of a program that had no memory left, or the reverse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "launch/oom.c"

/* If this fails, the format of one kernel is not read, or a name that begins alike counts. */
static void
the_number_of_kills_is_read_in_all_formats(void **state)
{
    (void)state;
    // memory.oom_control of version 1.
    assert_int_equal(oom_kills_in("oom_kill_disable 0\nunder_oom 0\noom_kill 7\n"), 7);
    // memory.events of version 2, where other names begin alike.
    assert_int_equal(oom_kills_in("low 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 9\n"), 2);
    assert_int_equal(oom_kills_in("oom_kill 18446744073709551614"), UINT64_MAX - 1);
    assert_int_equal(oom_kills_in("nr_oom_kill 4\n"), UINT64_MAX);
    assert_int_equal(oom_kills_in(""), UINT64_MAX);
}

static void
assert_group(const char *text, const char *wanted, const char *wanted_file)
{
    char path[64];
    const char *file = NULL;
    bool found = oom_group(text, path, sizeof path, &file);

    assert_int_equal(found, wanted != NULL);
    if (wanted == NULL)
        return;
    assert_string_equal(path, wanted);
    assert_string_equal(file, wanted_file);
}

/* If this fails, kills in other groups count, or kills in this group do not. */
static void
the_control_group_is_found_in_both_versions(void **state)
{
    (void)state;
    assert_group("0::/user.slice/a\n", "/sys/fs/cgroup/user.slice/a", "memory.events");
    assert_group("0::/", "/sys/fs/cgroup/", "memory.events");
    assert_group("9:name=systemd:/\n5:cpu,memory:/x:y\n0::/z\n", "/sys/fs/cgroup/memory/x:y",
                 "memory.oom_control");
    // "memory" is a whole name, not a part of one.
    assert_group("3:memory2,nomemory:/x\n0::/z\n", "/sys/fs/cgroup/z", "memory.events");
    assert_group("", NULL, NULL);
    assert_group("no colons\n:\n", NULL, NULL);
    assert_group("0::/012345678901234567890123456789012345678901234567890123456789\n", NULL, NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_of_kills_is_read_in_all_formats),
        cmocka_unit_test(the_control_group_is_found_in_both_versions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
