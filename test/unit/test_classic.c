/* test_classic.c: if this fails, the tables of --classic differ from the paper's: percentages are
 * cut to two characters, blank below 1, and 99 at most. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/table.h"

/* If this fails, the columns of the --classic tables shift against each other, or a share below one
 * per cent looks like one per cent. */
static void
percentages_have_two_characters(void **unused)
{
    (void)unused;
    assert_string_equal(classic_percent(0, 100), "  ");
    assert_string_equal(classic_percent(99, 10000), "  ");
    assert_string_equal(classic_percent(1, 100), " 1");
    assert_string_equal(classic_percent(1023876, 2040000), "50");
    assert_string_equal(classic_percent(1016124, 2040000), "49");
    assert_string_equal(classic_percent(2040000, 2040000), "99");
    assert_string_equal(classic_percent(29, 100), "29");
    assert_string_equal(classic_percent(57, 100), "57");
    assert_string_equal(classic_percent(INT64_MAX - 1, INT64_MAX), "99");
    assert_string_equal(classic_percent(INT64_MAX / 2, INT64_MAX), "50");
    assert_string_equal(classic_percent(5, 0), "  ");
    assert_string_equal(classic_percent(-5, 10), "  ");
}

/* If this fails, amounts and percentages of the --classic tables are not aligned, and scripts that
 * read them by column get wrong numbers. */
static void
shares_stand_in_columns(void **unused)
{
    struct arena arena = {0};

    (void)unused;
    assert_string_equal(classic_share(&arena, 1023876, 1023876), "1023876 (99)");
    assert_string_equal(classic_share(&arena, 0, 1023876), "0     ");
    assert_string_equal(classic_share(&arena, 7, 100), "7 ( 7)");
    assert_string_equal(classic_share_full(&arena, 2040000, 2040000), "2040000 (100)");
    assert_string_equal(classic_share_full(&arena, 1016124, 2040000), "1016124 (49) ");
    assert_string_equal(classic_share_full(&arena, 0, 2040000), "0 (0)  ");
    assert_string_equal(classic_share_full(&arena, INT64_MAX - 1, INT64_MAX),
                        "9223372036854775806 (99) ");
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentages_have_two_characters),
        cmocka_unit_test(shares_stand_in_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
