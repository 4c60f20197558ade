/* test_image.c: find functions of a mapped object by its own tables. If it fails, the recorder has
 * no clock, calls the program's replacement of a libc function, or reads out of bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>

#include "platform/image.c"

enum { COPY_BYTES = 16 * PAGE_BYTES, DAMAGES = 200000 };

/* If this fails, each read of the clock is a system call, or another function of the vDSO is called
 * in its place. */
static void
the_clock_is_found_in_the_vdso(void **unused)
{
    struct unwind_object o;
    int (*clock)(clockid_t, struct timespec *);
    struct timespec before, ours, after;

    (void)unused;
    if (!image_at(getauxval(AT_SYSINFO_EHDR), &o))
        skip();
    clock = (int (*)(clockid_t, struct timespec *))image_function(&o, "__vdso_clock_gettime");
    assert_non_null(clock);
    clock_gettime(CLOCK_MONOTONIC_COARSE, &before);
    assert_int_equal(clock(CLOCK_MONOTONIC_COARSE, &ours), 0);
    clock_gettime(CLOCK_MONOTONIC_COARSE, &after);
    assert_in_range(ours.tv_sec, before.tv_sec, after.tv_sec);
    assert_null(image_function(&o, "__vdso_clock_gettim"));
    assert_null(image_function(&o, "__vdso_clock_gettime2"));
    assert_null(image_function(&o, ""));
}

/* If this fails, the recorder calls the program's replacement of a libc function, or jumps to a
 * variable or to the function that only selects one. */
static void
a_function_is_found_in_its_own_object(void **unused)
{
    struct unwind_object o;
    Dl_info info;

    (void)unused;
    assert_int_not_equal(dladdr(dlsym(RTLD_DEFAULT, "__errno_location"), &info), 0);
    assert_true(image_at((uint64_t)(uintptr_t)info.dli_fbase, &o));
    assert_ptr_equal(image_function(&o, "__errno_location"),
                     dlsym(RTLD_DEFAULT, "__errno_location"));
    assert_null(image_function(&o, "stdout")); // A variable.
    assert_null(image_function(&o, "strlen")); // An ifunc.
}

/* If this fails, the recorder's first event crashes in a process without a vdso, or with a page
 * without an ELF header in its place. */
static void
what_is_no_object_is_refused(void **unused)
{
    static const char page[2 * PAGE_BYTES] __attribute__((aligned(PAGE_BYTES)));
    struct unwind_object o;

    (void)unused;
    assert_false(image_at(0, &o));
    assert_false(image_at((uint64_t)(uintptr_t)page, &o));
    assert_false(image_at((uint64_t)(uintptr_t)page + 8, &o));
}

/* Whatever the tables contain, no read leaves the memory that the headers declare readable; a guard
 * page follows it. If this fails, an object with odd tables crashes or hangs the program as it
 * starts. */
static void
damaged_tables_are_read_within_bounds(void **unused)
{
    const unsigned char *vdso = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
    unsigned char *copy;
    uint32_t random = 1;
    struct unwind_object o;
    uint64_t bytes;

    (void)unused;
    if (!image_at((uint64_t)(uintptr_t)vdso, &o) || o.end - o.start > COPY_BYTES)
        skip();
    bytes = round_up(o.end - o.start, PAGE_BYTES);
    copy = mmap(NULL, bytes + PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0);
    assert_true(copy != MAP_FAILED);
    assert_int_equal(mprotect(copy + bytes, PAGE_BYTES, PROT_NONE), 0);
    memcpy(copy, vdso, o.end - o.start);
    assert_true(image_at((uint64_t)(uintptr_t)copy, &o));
    assert_non_null(image_function(&o, "__vdso_clock_gettime"));
    for (int i = 0; i < DAMAGES; i++) {
        // Overwrite the tables, which follow the headers in the first kilobytes. The headers stay
        // intact.
        uint32_t at, value;

        random = random * 1664525 + 1013904223;
        at = (uint32_t)(sizeof(Elf64_Ehdr) + o.segment_count * sizeof(Elf64_Phdr)) +
             (random >> 8) % 2048;
        value = random >> 3;
        memcpy(copy + at, &value, 1 + (random >> 30));
        image_function(&o, "__vdso_clock_gettime");
        if (i % 8 == 7)
            memcpy(copy, vdso, o.end - o.start);
    }
    munmap(copy, bytes + PAGE_BYTES);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_is_found_in_the_vdso),
        cmocka_unit_test(a_function_is_found_in_its_own_object),
        cmocka_unit_test(what_is_no_object_is_refused),
        cmocka_unit_test(damaged_tables_are_read_within_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
