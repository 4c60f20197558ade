/* test_ascii.c: output in ASCII for locales without UTF-8: which locales these are, the
 * replacements of characters, and widths that match the output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/demangle.h"
#include "util/amount.h"
#include "util/bytes.h"
#include "view/style.h"

#define DOTS "\xe2\x80\xa6"
#define ARROW "\xe2\x86\x92"

static struct arena arena;

/* If this fails, text for an ASCII terminal has bytes that it shows as garbage, or the user's names
 * are changed. */
static void
signs_of_ours_have_stand_ins_and_other_text_stays(void **state)
{
    (void)state;
    ascii_want(true);
    assert_string_equal(ascii_text(&arena, "1 \xc2\xb7 2 " ARROW " 3" DOTS), "1 | 2 -> 3...");
    assert_string_equal(ascii_text(&arena, "gr\xc3\xb6\xc3\x9f" "e a\xc2\xb7" "b"),
                        "gr\xc3\xb6\xc3\x9f" "e a\xc2\xb7" "b");
    assert_string_equal(ascii_text(&arena, "a \xc2\xb7" DOTS), "a |...");
    assert_string_equal(ascii_text(&arena, ""), "");
    ascii_want(false);
    assert_string_equal(ascii_text(&arena, "1 \xc2\xb7 2" DOTS), "1 \xc2\xb7 2" DOTS);
}

// Two Chinese characters of two columns each; then these, a letter, and a Korean character of two
// columns.
#define HAN "\xe6\xbc\xa2\xe5\xad\x97"
#define MIXED HAN "a\xea\xb0\x80"

/* If this fails, tables with Chinese, Japanese or Korean names are not aligned, or lines wrap. */
static void
east_asian_characters_take_two_columns(void **state)
{
    static const struct {
        uint32_t character;
        size_t columns;
    } known[] = {
        {'a', 1},     {0xf6, 1},    {0x10ff, 1},  {0x1100, 2}, {0x115f, 2},  {0x1160, 1},
        {0x2026, 1},  {0x3000, 2},  {0x303f, 1},  {0x3042, 2}, {0x30ab, 2},  {0x4e00, 2},
        {0x9fff, 2},  {0xac00, 2},  {0xd7a3, 2},  {0xd7a4, 1}, {0xff21, 2},  {0xff61, 1},
        {0xff71, 1},  {0xffe5, 2},  {0xffe8, 1},  {0x1f600, 2}, {0x1f650, 1}, {0x20000, 2},
        {0x3fffd, 2}, {0x3fffe, 1},
    };

    (void)state;
    for (size_t i = 0; i < countof(known); i++)
        assert_int_equal(character_columns(known[i].character), known[i].columns);
    ascii_want(false);
    assert_int_equal(style_width(MIXED), 7);
    assert_string_equal(style_cut_end(&arena, MIXED, 7), MIXED);
    assert_string_equal(style_cut_end(&arena, MIXED, 6), HAN "a" DOTS);
    assert_string_equal(style_cut_end(&arena, MIXED, 4), "\xe6\xbc\xa2" DOTS);
    assert_string_equal(style_cut_start(&arena, MIXED, 6), DOTS "\xe5\xad\x97" "a\xea\xb0\x80");
    assert_string_equal(style_cut_start(&arena, MIXED, 5), DOTS "a\xea\xb0\x80");
    assert_string_equal(symbol_shorten(&arena, MIXED, 7), MIXED);
    assert_string_equal(symbol_shorten(&arena, MIXED, 6), HAN "a" DOTS);
    assert_string_equal(symbol_shorten(&arena, MIXED, 4), "\xe6\xbc\xa2" DOTS);
    assert_string_equal(symbol_shorten(&arena, "f<" HAN ">(int)", 10), "f<" HAN ">(" DOTS ")");
    assert_string_equal(symbol_shorten(&arena, "f<" HAN ">(int)", 9), "f<" DOTS ">(" DOTS ")");
}

/* If this fails, columns are not aligned in ASCII, or lines are wider than the terminal. */
static void
widths_are_those_of_what_goes_out(void **state)
{
    (void)state;
    ascii_want(true);
    assert_int_equal(style_width("a " ARROW " b"), 6);
    for (size_t width = 0; width < 12; width++) {
        const char *end = style_cut_end(&arena, "a " ARROW " b " ARROW " c", width);
        const char *start = style_cut_start(&arena, "a " ARROW " b " ARROW " c", width);

        assert_true(strlen(ascii_text(&arena, end)) <= width);
        assert_true(strlen(ascii_text(&arena, start)) <= width);
        assert_true(strlen(ascii_text(&arena, symbol_shorten(&arena, "f<some, thing>(int)",
                                                             width))) <= width);
    }
    assert_string_equal(style_cut_end(&arena, "abcdefgh", 6), "abc...");
    assert_string_equal(style_cut_start(&arena, "abcdefgh", 6), "...fgh");
    assert_string_equal(symbol_shorten(&arena, "f<some, thing>", 8), "f<...>");
    ascii_want(false);
    assert_int_equal(style_width("a " ARROW " b"), 5);
    assert_string_equal(style_cut_end(&arena, "abcdefgh", 6), "abcde" DOTS);
    assert_string_equal(style_cut_start(&arena, "abcdefgh", 6), DOTS "defgh");
    assert_string_equal(symbol_shorten(&arena, "f<some, thing>", 8), "f<" DOTS ">");
}

/* If this fails, COLUMNS is not honoured, or output into a pipe is truncated without a request. */
static void
columns_are_what_was_asked_for_and_else_without_limit_in_a_pipe(void **state)
{
    (void)state;
    setenv("COLUMNS", "100", 1);
    assert_int_equal(style_for(-1, false).width, 100);
    assert_int_equal(style_for(-1, true).width, STYLE_NO_LIMIT);
    setenv("COLUMNS", "7", 1);
    assert_int_equal(style_for(-1, false).width, 60);
    setenv("COLUMNS", "wide", 1);
    assert_int_equal(style_for(-1, false).width, STYLE_NO_LIMIT);
    setenv("COLUMNS", "0", 1);
    assert_int_equal(style_for(-1, false).width, STYLE_NO_LIMIT);
    unsetenv("COLUMNS");
    assert_int_equal(style_for(-1, false).width, STYLE_NO_LIMIT);
}

/* If this fails, a name in a stranger's file reaches the terminal with control sequences, or a
 * harmless name is shown with question marks. */
static void
a_control_character_is_seen_wherever_it_is(void **unused)
{
    char text[24];

    (void)unused;
    for (unsigned c = 0; c < 256; c++)
        for (size_t length = 1; length <= sizeof text; length++)
            for (size_t at = 0; at < sizeof text; at++) {
                memset(text, c % 2 ? ' ' : '\xff', sizeof text);
                text[at] = (char)c;
                assert_int_equal(bytes_have_control(text, length),
                                 at < length && (c < 0x20 || c == 0x7f));
            }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_of_ours_have_stand_ins_and_other_text_stays),
        cmocka_unit_test(east_asian_characters_take_two_columns),
        cmocka_unit_test(widths_are_those_of_what_goes_out),
        cmocka_unit_test(columns_are_what_was_asked_for_and_else_without_limit_in_a_pipe),
        cmocka_unit_test(a_control_character_is_seen_wherever_it_is),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    arena_release(&arena);
    return failed;
}
