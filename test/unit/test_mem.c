/* test_mem.c: the recorder's memory at its start. If this fails, each recorded process pays more
 * page faults before its first event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fake_recorder.h"

#include "platform/mem.c"
#include "platform/memory_share.c"
#include "platform/sys.c"

enum { PAGES_MAX = 64 };

/* Return the number of resident pages among the COUNT pages at ADDRESS. */
static uint32_t
resident_pages(const void *address, uint32_t count)
{
    unsigned char pages[PAGES_MAX] = {0};
    uint32_t resident = 0;

    assert_true(count <= PAGES_MAX);
    assert_int_equal(mincore((void *)(uintptr_t)address, (size_t)count * PAGE_BYTES, pages), 0);
    for (uint32_t i = 0; i < count; i++)
        resident += pages[i] & 1;
    return resident;
}

/* Return true if the kernel can prefault (Linux 5.14). */
static bool
prefaults(void)
{
    void *p = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool can = madvise(p, PAGE_BYTES, MADV_POPULATE_WRITE) == 0;

    munmap(p, PAGE_BYTES);
    return can;
}

/* If this fails, the kernel refuses the request to prefault the state, and a page fault follows for
 * each of its pages. */
static void
a_start_prefaults_the_state_and_the_pages_behind_it(void **unused)
{
    uint32_t count =
        (uint32_t)((round_up(sizeof *state, PAGE_BYTES) + TOUCHED_BEHIND) / PAGE_BYTES);
    uint64_t bytes;

    (void)unused;
    if (!prefaults())
        skip();
    state = mem_new_state(true, &bytes);
    assert_non_null(state);
    assert_int_equal(bytes, POOL_BYTES);
    mem_take_state(bytes);
    assert_true(mem_start());
    assert_int_equal(resident_pages(state, count), count);
    mem_free_state(state, bytes);
    state = NULL;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_prefaults_the_state_and_the_pages_behind_it),
    };

    return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
