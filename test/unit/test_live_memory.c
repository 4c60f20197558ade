/* test_live_memory.c: reads from a running process. If this fails, views of a process lack data
 * that its dump has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/live_memory.h"

enum { PAGE = 4096, PAGES = 64, LONGEST = 12000, READS = 20000 };

/* If this fails, a read ends in the middle of memory: stacks are unwound to fewer frames, and
 * pointers are missed. */
static void
a_read_is_whole_wherever_the_last_one_was(void **state)
{
    size_t size = (size_t)PAGES * PAGE;
    unsigned char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                -1, 0);
    static unsigned char copy[LONGEST];
    uint32_t seed = 1;
    struct memory m;

    (void)state;
    assert_ptr_not_equal(bytes, MAP_FAILED);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 31 + i / 251);
    assert_int_equal(live_memory_open((uint32_t)getpid(), &m, NULL), 0);
    for (int i = 0; i < READS; i++) {
        size_t length, at;

        seed = seed * 1664525 + 1013904223;
        length = 1 + (seed >> 8) % LONGEST;
        seed = seed * 1664525 + 1013904223;
        at = (seed >> 8) % (size - length);
        assert_int_equal(memory_read(&m, (uint64_t)(uintptr_t)bytes + at, copy, length), length);
        assert_memory_equal(copy, bytes + at, length);
    }
    memory_close(&m);
    munmap(bytes, size);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_is_whole_wherever_the_last_one_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
