/* test_memory_share.c: the recorder's default memory limit, from made-up files of the kernel. If
 * this fails, a process in a small container is killed for lack of memory, or a call tree is
 * truncated although there is memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "platform/memory_share.c"

enum { FILES_MAX = 8, FIRST_DESCRIPTOR = 100 };

static struct made_file {
    const char *path, *text;
} files[FILES_MAX];
static int open_files;

int
sys_open(const char *path, int flags, int mode)
{
    (void)flags;
    (void)mode;
    for (int i = 0; i < FILES_MAX && files[i].path != NULL; i++)
        if (strcmp(files[i].path, path) == 0) {
            open_files++;
            return FIRST_DESCRIPTOR + i;
        }
    return -ENOENT;
}

long
sys_pread(int fd, void *buffer, size_t size_bytes, uint64_t off)
{
    const char *text = files[fd - FIRST_DESCRIPTOR].text;
    size_t length = strlen(text);

    assert_int_equal(off, 0);
    if (length > size_bytes)
        length = size_bytes;
    memcpy(buffer, text, length);
    return (long)length;
}

int
sys_close(int fd)
{
    (void)fd;
    open_files--;
    return 0;
}

/* Return memory_share() with MEMINFO as /proc/meminfo and COUNT other files. */
static uint64_t
share_with(const char *meminfo, const struct made_file *others, size_t count)
{
    uint64_t share;

    memset(files, 0, sizeof files);
    files[0] = (struct made_file){"/proc/meminfo", meminfo};
    for (size_t i = 0; i < count; i++)
        files[i + 1] = others[i];
    share = memory_share();
    assert_int_equal(open_files, 0);
    return share;
}

static const char machine[] = "MemTotal:       16384000 kB\nMemFree:        100 kB\n";
#define MACHINE_BYTES ((uint64_t)16384000 << 10)

/* If this fails, the default limit has nothing to do with the machine. */
static void
without_groups_it_is_a_quarter_of_the_machines_memory(void **unused)
{
    (void)unused;
    assert_int_equal(share_with(machine, NULL, 0), MACHINE_BYTES / 4);
    assert_int_equal(share_with("MemFree: 5 kB\n", NULL, 0), (uint64_t)1 << 30);
}

/* If this fails, a limit that systemd or a container engine sets on a group around the process's
 * own is exceeded. */
static void
the_least_limit_on_the_path_counts(void **unused)
{
    static const struct made_file tree[] = {
        {"/proc/self/cgroup", "0::/user.slice/a b/leaf\n"},
        {"/sys/fs/cgroup/user.slice/memory.max", "4000000\n"},
        {"/sys/fs/cgroup/user.slice/a b/memory.max", "8000000\n"},
        {"/sys/fs/cgroup/user.slice/a b/leaf/memory.max", "max\n"},
    };

    (void)unused;
    assert_int_equal(share_with(machine, tree, countof(tree)), 1000000);
}

/* If this fails, the limits of containers whose root is their own group are ignored. */
static void
the_root_of_a_container_counts(void **unused)
{
    static const struct made_file at_root[] = {
        {"/proc/self/cgroup", "0::/\n"},
        {"/sys/fs/cgroup/memory.max", "2000000\n"},
    };
    static const struct made_file not_visible[] = {
        {"/proc/self/cgroup", "0::/docker/0123\n"},
        {"/sys/fs/cgroup/memory.max", "3000000\n"},
    };

    (void)unused;
    assert_int_equal(share_with(machine, at_root, countof(at_root)), 500000);
    assert_int_equal(share_with(machine, not_visible, countof(not_visible)), 750000);
}

/* If this fails, on machines with version 1 of cgroups, limits are ignored or taken from a wrong
 * group. */
static void
version_1_is_read_too(void **unused)
{
    static const struct made_file tree[] = {
        {"/proc/self/cgroup", "9:name=systemd:/x\n5:cpu,memory:/jobs/7\n3:cpuset:/wrong\n0::/\n"},
        {"/sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes", "9223372036854771712\n"},
        {"/sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "12000000\n"},
        {"/sys/fs/cgroup/memory/wrong/memory.limit_in_bytes", "4\n"},
    };

    (void)unused;
    assert_int_equal(share_with(machine, tree, countof(tree)), 3000000);
}

/* If this fails, an unusual file of the kernel leads to a read beyond a buffer. */
static void
strange_files_are_no_limit(void **unused)
{
    static char endless[3 * SHARE_TEXT_BYTES];
    static const struct made_file strange[] = {
        {"/proc/self/cgroup", "0:\n:\n\n7:memoryless:/\n0::"},
    };
    struct made_file longest[] = {{"/proc/self/cgroup", endless}};

    (void)unused;
    memset(endless, 'a', sizeof endless - 1);
    memcpy(endless, "0::/", 4);
    assert_int_equal(share_with(machine, strange, countof(strange)), MACHINE_BYTES / 4);
    assert_int_equal(share_with(machine, longest, countof(longest)), MACHINE_BYTES / 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_groups_it_is_a_quarter_of_the_machines_memory),
        cmocka_unit_test(the_least_limit_on_the_path_counts),
        cmocka_unit_test(the_root_of_a_container_counts),
        cmocka_unit_test(version_1_is_read_too),
        cmocka_unit_test(strange_files_are_no_limit),
    };

    return cmocka_run_group_tests_name("memory_share", tests, NULL, NULL);
}
