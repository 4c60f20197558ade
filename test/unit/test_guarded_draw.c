/* test_guarded_draw.c: if this fails, sampling depends on how the program rounds, or the program
 * sees exceptions of the recorder's arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <xmmintrin.h>

#include "event/guarded_draw.h"
#include "format/format.h"

/* Values of MXCSR. DEFAULT masks all exceptions. The others mask none, round upward or towards
 * zero, flush denormals, and read denormals as zero. */
enum { DEFAULT = 0x1f80, UPWARD = 0xc040, TOWARDS_ZERO = 0xe040 };

struct drawn {
    struct draw_mode mode;
    int64_t distance;
    bool up;
    struct draw_weight weight;
};

/* Make draw number I of the stream *RANDOM under the floating-point state PROGRAM, which must be
 * unchanged afterwards. */
static struct drawn
draw_in(uint32_t program, int i, uint64_t *random)
{
    struct drawn d;
    uint64_t size_bytes = (uint64_t)i * 37 % 100000;
    uint32_t after;

    memset(&d, 0, sizeof d); // Padding bytes are compared as well.
    _mm_setcsr(program);
    d.mode = guarded_draw_mode(i % 2 ? DISK_MODE_BYTES : DISK_MODE_COUNT, 1024 + (uint64_t)i);
    d.distance = guarded_draw_distance(&d.mode, random);
    d.up = guarded_draw_rounds_up(&d.mode, size_bytes, random);
    d.weight = guarded_draw_weight(&d.mode, size_bytes, d.up);
    after = _mm_getcsr();
    _mm_setcsr(DEFAULT);
    assert_int_equal(after, program);
    return d;
}

/* If this fails, a free subtracts another weight than its allocation added when the program has
 * changed its rounding in between, or a trapped exception kills the program. */
static void
every_state_of_the_program_draws_the_same_and_stays(void **unused)
{
    static const uint32_t states[] = {DEFAULT, UPWARD, TOWARDS_ZERO};
    uint64_t random[countof(states)] = {1, 1, 1};

    (void)unused;
    for (int i = 1; i < 20000; i++) {
        struct drawn first = draw_in(states[0], i, &random[0]);

        for (size_t j = 1; j < countof(states); j++) {
            struct drawn d = draw_in(states[j], i, &random[j]);

            assert_memory_equal(&d.mode.mean, &first.mode.mean, sizeof d.mode.mean);
            assert_int_equal(d.distance, first.distance);
            assert_int_equal(d.up, first.up);
            assert_memory_equal(&d.weight, &first.weight, sizeof d.weight);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_of_the_program_draws_the_same_and_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
