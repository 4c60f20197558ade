/* test_opts.c: the option parser, its suggestions, and the wrapping of help texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "option/opts.h"

static const char *const colours[] = {"red", "green", "blue", NULL};
static const char *const groups[] = {"file", "label", "label=", NULL};

struct values {
    bool json, wide;
    const char *fold;
    uint64_t budget_bytes, limit, wait;
    int colour;
    struct opt_choice by;
    int form;
    uint64_t depth;
};
static const struct values defaults = {.limit = 10};
static struct values got;

static const struct opt table[] = {
    {OPT_FLAG, 'j', "json", &defaults.json, NULL, "Print JSON.", NULL},
    {OPT_FLAG, 'w', "wide", &defaults.wide, NULL, "Do not cut.", NULL},
    {OPT_STRING, 0, "fold", &defaults.fold, "REGEX", "Fold.", NULL},
    {OPT_SIZE, 'b', "budget", &defaults.budget_bytes, "BYTES", "Budget.", NULL},
    {OPT_COUNT, 'n', "limit", &defaults.limit, "N", "Limit.", NULL},
    {OPT_COUNT_0, 0, "wait", &defaults.wait, "N", "Wait.", NULL},
    {OPT_CHOICE, 0, "colour", &defaults.colour, "WHICH", "Colour.", colours},
    {OPT_CHOICE_OF, 0, "by", &defaults.by, "WHAT", "Group.", groups},
    {OPT_FLAG_OF, 'f', "form", &defaults.form, "FORM", "Form.", colours},
    {OPT_COUNT_OF, 0, "depth", &defaults.depth, "N", "Depth.", NULL},
    {.kind = OPT_END},
};

static char *arguments[16];
static int left;
static struct err err;

/* Parse the words of LINE, separated by single blanks, and store the remaining words in
 * `arguments`. */
static int
test_opts_parse(const char *line, bool stop_at_first)
{
    const struct command c = {.options = table,
                              .defaults = &defaults,
                              .defaults_bytes = sizeof defaults,
                              .stop_at_first = stop_at_first};
    static char copy[256];
    int count = 0;

    got = defaults;
    err.text[0] = '\0';
    left = -1;
    strncpy(copy, line, sizeof(copy) - 1);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
        arguments[count++] = word;
    return opts_parse(&c, &got, count, arguments, &left, &err);
}

/* If this fails, heaptap cc consumes or refuses a compiler option. */
static void
options_may_end_at_the_first_unknown(void **state)
{
    const struct command c = {.options = table,
                              .defaults = &defaults,
                              .defaults_bytes = sizeof defaults,
                              .stop_at_first = true,
                              .stop_at_unknown = true};
    char *words[] = {"--wide", "-n", "3", "-nostdinc", "--wide", "-w", "--unknown=1", ""};

    (void)state;
    got = defaults;
    assert_int_equal(opts_parse(&c, &got, countof(words), words, &left, &err), 0);
    assert_int_equal(left, 5);
    assert_string_equal(words[0], "-nostdinc");
    assert_string_equal(words[1], "--wide");
    assert_true(got.wide);
    assert_int_equal(got.limit, 3);
}

/* If this fails, --by label=tenant is refused, or groups by another label. */
static void
a_choice_may_take_a_value(void **state)
{
    (void)state;
    assert_int_equal(test_opts_parse("--by label", false), 0);
    assert_int_equal(got.by.choice, 1);
    assert_null(got.by.of);
    assert_int_equal(test_opts_parse("--by label=tenant", false), 0);
    assert_int_equal(got.by.choice, 2);
    assert_string_equal(got.by.of, "tenant");
    assert_int_equal(test_opts_parse("--by=label=a=b", false), 0);
    assert_string_equal(got.by.of, "a=b");
}

/* If this fails, --json=nested gives another layout, or --json PROFILE treats PROFILE as a
 * layout. */
static void
a_flag_may_take_a_choice_behind_an_equals_sign(void **state)
{
    (void)state;
    assert_int_equal(test_opts_parse("", false), 0);
    assert_int_equal(got.form, 0);
    assert_int_equal(test_opts_parse("--form blue", false), 0);
    assert_int_equal(got.form, 1);
    assert_int_equal(left, 1);
    assert_int_equal(test_opts_parse("--form=red", false), 0);
    assert_int_equal(got.form, 1);
    assert_int_equal(test_opts_parse("--form=blue", false), 0);
    assert_int_equal(got.form, 3);
    assert_int_equal(test_opts_parse("-fw x", false), 0);
    assert_true(got.form == 1 && got.wide);
    assert_int_equal(test_opts_parse("--form=", false), HEAPTAP_USAGE);
    assert_int_equal(test_opts_parse("--form=blu", false), HEAPTAP_USAGE);
    assert_non_null(strstr(err.text, "option '--form': 'blu' is not one of red, green, blue"));
}

/* If this fails, `run --annotate PROGRAM` takes the program for a number. */
static void
a_flag_may_take_a_number_behind_an_equals_sign(void **state)
{
    (void)state;
    assert_int_equal(test_opts_parse("--depth 7", false), 0);
    assert_true(got.depth == OPT_ALONE);
    assert_int_equal(left, 1);
    assert_int_equal(test_opts_parse("--depth=7", false), 0);
    assert_int_equal(got.depth, 7);
    assert_int_equal(test_opts_parse("--depth=", false), HEAPTAP_USAGE);
    assert_int_equal(test_opts_parse("--depth=x", false), HEAPTAP_USAGE);
}

/* If this fails, a documented form of an option is refused or misread. */
static void
every_form_of_an_option_is_read(void **state)
{
    (void)state;
    assert_int_equal(test_opts_parse("--fold=^x$ --limit 3 -b64K --colour blue", false), 0);
    assert_string_equal(got.fold, "^x$");
    assert_int_equal(got.limit, 3);
    assert_int_equal(got.budget_bytes, 65536);
    assert_int_equal(got.colour, 2);
    assert_int_equal(left, 0);
    assert_int_equal(test_opts_parse("-n 7 -jw", false), 0);
    assert_int_equal(got.limit, 7);
    assert_true(got.json && got.wide);
    assert_int_equal(test_opts_parse("-jn5", false), 0);
    assert_true(got.json);
    assert_int_equal(got.limit, 5);
    assert_int_equal(test_opts_parse("--fold=a --fold=b --limit=1 --limit=2", false), 0);
    assert_string_equal(got.fold, "b");
    assert_int_equal(got.limit, 2);
}

/* If this fails, a variable that a script has not set selects all programs, or the current
 * directory. */
static void
an_empty_value_is_refused(void **state)
{
    (void)state;
    assert_int_equal(test_opts_parse("--fold=", false), HEAPTAP_USAGE);
    assert_string_equal(err.text, "option '--fold': its value, REGEX, is empty");
}

/* If this fails, 0 is taken as "not given": `run --max-memory 0` has no limit. */
static void
zero_is_refused_where_it_means_nothing(void **state)
{
    (void)state;
    assert_int_equal(test_opts_parse("--limit 0", false), HEAPTAP_USAGE);
    assert_string_equal(err.text,
                        "option '--limit': 0 is none; write 1 or more, or leave the option out");
    assert_int_equal(test_opts_parse("--budget 0K", false), HEAPTAP_USAGE);
    assert_int_equal(test_opts_parse("--depth=0", false), HEAPTAP_USAGE);
    got.wait = 1;
    assert_int_equal(test_opts_parse("--wait 0", false), 0);
    assert_int_equal(got.wait, 0);
}

/* If this fails, a profile's name is lost, or the names of two profiles are exchanged. */
static void
arguments_stay_in_their_order(void **state)
{
    (void)state;
    assert_int_equal(test_opts_parse("a --json b - --limit 4 c", false), 0);
    assert_int_equal(left, 4);
    assert_string_equal(arguments[0], "a");
    assert_string_equal(arguments[1], "b");
    assert_string_equal(arguments[2], "-");
    assert_string_equal(arguments[3], "c");
    assert_true(got.json);
    assert_int_equal(got.limit, 4);
}

/* If this fails, a file called "--json" cannot be named. */
static void
options_end_at_two_dashes(void **state)
{
    (void)state;
    assert_int_equal(test_opts_parse("-- --json -- x", false), 0);
    assert_int_equal(left, 3);
    assert_string_equal(arguments[0], "--json");
    assert_string_equal(arguments[1], "--");
    assert_false(got.json);
}

/* If this fails, heaptap run consumes the options of the program it records. */
static void
run_stops_at_the_first_argument(void **state)
{
    (void)state;
    assert_int_equal(test_opts_parse("-j prog --limit 99 -- --wide --help", true), 0);
    assert_int_equal(left, 6);
    assert_string_equal(arguments[0], "prog");
    assert_string_equal(arguments[3], "--");
    assert_string_equal(arguments[5], "--help");
    assert_true(got.json);
    assert_false(got.wide);
    assert_int_equal(got.limit, 10);
    assert_int_equal(test_opts_parse("-- --odd-name --wide", true), 0);
    assert_string_equal(arguments[0], "--odd-name");
    assert_int_equal(left, 2);
}

/* If this fails, --help is called an unknown option, or -h in a group of options is missed. */
static void
help_is_asked_for_anywhere(void **state)
{
    (void)state;
    assert_int_equal(test_opts_parse("a --help", false), OPTS_HELP);
    assert_int_equal(test_opts_parse("-h", false), OPTS_HELP);
    assert_int_equal(test_opts_parse("-jh", false), OPTS_HELP);
}

static void
refuses(const char *line, const char *message)
{
    assert_int_equal(test_opts_parse(line, false), HEAPTAP_USAGE);
    assert_string_equal(err.text, message);
}

/* If this fails, a mistyped command line does something else, or fails without a reason. */
static void
mistakes_are_refused_with_a_reason(void **state)
{
    (void)state;
    refuses("--foldd", "unknown option '--foldd' (did you mean --fold?)");
    refuses("--limt=3", "unknown option '--limt' (did you mean --limit?)");
    refuses("--zebra", "unknown option '--zebra'");
    refuses("-q", "unknown option '-q'");
    refuses("-jq", "unknown option '-q'");
    refuses("-\xc3\xa9", "unknown option '-\xc3\xa9'");
    refuses("--json=yes", "option '--json' takes no value");
    refuses("--fold", "option '--fold' needs a value: --fold REGEX");
    refuses("-n", "option '--limit' needs a value: --limit N");
    refuses("--limit 3x", "option '--limit': '3x' is not a whole number in range");
    refuses("--limit -3", "option '--limit': '-3' is not a whole number in range");
    refuses("--limit=", "option '--limit': '' is not a whole number in range");
    refuses("--limit 18446744073709551616",
            "option '--limit': '18446744073709551616' is not a whole number in range");
    refuses("--budget 3Q",
            "option '--budget': '3Q' is no size; write a number such as 4096, 64K, 1.5M "
            "or 2G");
    refuses("--by label=", "option '--by': 'label=' is not one of file, label, label=KEY (did you "
                           "mean label?)");
    refuses("--by xyzzy=x", "option '--by': 'xyzzy=x' is not one of file, label, label=KEY");
    refuses("--colour gren",
            "option '--colour': 'gren' is not one of red, green, blue (did you mean "
            "green?)");
    refuses("--colour x", "option '--colour': 'x' is not one of red, green, blue");
}

/* If this fails, two views in one process see each other's options. */
static void
two_runs_do_not_share_options(void **state)
{
    struct values first;

    (void)state;
    assert_int_equal(test_opts_parse("--limit 3 --wide --by label", false), 0);
    first = got;
    assert_int_equal(test_opts_parse("--json", false), 0);
    assert_int_equal(got.limit, 10);
    assert_false(got.wide);
    assert_int_equal(first.limit, 3);
    assert_false(first.json);
    assert_int_equal(defaults.limit, 10);
    assert_int_equal(defaults.by.choice, 0);
}

/* If this fails, a long word overruns a buffer of the parser or of a message. */
static void
long_words_overrun_nothing(void **state)
{
    const struct command c = {
        .options = table, .defaults = &defaults, .defaults_bytes = sizeof defaults};
    char word[4000] = "--";

    (void)state;
    memset(word + 2, 'x', sizeof(word) - 3);
    arguments[0] = word;
    assert_int_equal(opts_parse(&c, &got, 1, arguments, &left, &err), HEAPTAP_USAGE);
    assert_non_null(strstr(err.text, "unknown option '--xxx"));
    memcpy(word, "--fold=", strlen("--fold="));
    assert_int_equal(opts_parse(&c, &got, 1, arguments, &left, &err), 0);
    assert_int_equal(strlen(got.fold), sizeof(word) - 1 - strlen("--fold="));
}

static void
size_is(const char *text, uint64_t expected)
{
    uint64_t bytes = 1;

    assert_true(opts_parse_size(text, &bytes));
    assert_int_equal(bytes, expected);
}

static void
no_size(const char *text)
{
    uint64_t bytes = 12345;

    assert_false(opts_parse_size(text, &bytes));
    assert_int_equal(bytes, 12345);
}

/* If this fails, a budget is off by a power of two, or wraps around to almost nothing. */
static void
sizes_are_read_to_the_byte(void **state)
{
    (void)state;
    size_is("0", 0);
    size_is("10", 10);
    size_is("64K", 65536);
    size_is("64k", 65536);
    size_is("1.5M", 1572864);
    size_is("0.25KiB", 256);
    size_is("2G", (uint64_t)2 << 30);
    size_is("1T", (uint64_t)1 << 40);
    size_is("0.999999T", 1099510528264); // 2^40 * 999999 / 1000000, rounded down.
    size_is("18446744073709551615", UINT64_MAX);
    size_is("16777215T", (uint64_t)16777215 << 40);
    size_is("16777215.999999T", ((uint64_t)16777215 << 40) + 1099510528264);
    no_size("18446744073709551616");
    no_size("16777216T");
    no_size("");
    no_size("K");
    no_size("-1");
    no_size("+1");
    no_size(" 1");
    no_size("1 K");
    no_size("1 ");
    no_size("1 iB");
    no_size("1.5 ");
    no_size("1\x8b");
    no_size("1KB");
    no_size("1KiBx");
    no_size("1.K");
    no_size(".5K");
    no_size("1.5");
    no_size("1.0000001K");
    no_size("0x10");
    no_size("1K2");
}

static const char *
nearest(const char *word)
{
    static const char *const words[] = {"run",    "report", "leaks", "source",
                                        "export", "diff",   "pack"};
    struct suggestion s = {.word = word};

    for (size_t i = 0; i < countof(words); i++)
        suggest_offer(&s, words[i]);
    return s.nearest;
}

/* If this fails, typing errors get no suggestion, or a useless one. */
static void
near_words_are_suggested(void **state)
{
    (void)state;
    assert_string_equal(nearest("reprot"), "report");
    assert_string_equal(nearest("leak"), "leaks");
    assert_string_equal(nearest("rnu"), "run");
    assert_string_equal(nearest("exp"), "export");
    assert_string_equal(nearest("dif"), "diff");
    assert_string_equal(nearest("packk"), "pack");
    assert_null(nearest("xyz"));
    assert_null(nearest(""));
    assert_null(nearest("./a.out"));
    assert_null(nearest("0123456789012345678901234567890123456789012345678901234567890123456789"));
}

static void
wraps(const char *text, size_t column, size_t indent, size_t width, const char *expected)
{
    struct strbuf out = {0};

    help_wrap(&out, text, column, indent, width);
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_release(&out);
}

/* If this fails, help runs over the edge of an 80-column terminal, or loses words. */
static void
help_wraps_at_the_width(void **state)
{
    (void)state;
    wraps("one two three", 0, 2, 7, "one two\n  three\n");
    wraps("one two three", 0, 2, 8, "one two\n  three\n");
    wraps("one two", 4, 4, 10, "one\n    two\n");
    wraps("unbreakable is long", 0, 0, 5, "unbreakable\nis\nlong\n");
    wraps("\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9", 0, 0, 5, "\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\n");
    wraps("a\n\nb c", 0, 0, 80, "a\n\nb c\n");
    wraps("", 0, 0, 80, "");
}

/* If this fails, scripts cannot distinguish a wrong option from a broken profile. */
static void
errors_become_exit_codes(void **state)
{
    (void)state;
    assert_int_equal(exit_code(HEAPTAP_OK), 0);
    assert_int_equal(exit_code(HEAPTAP_USAGE), 2);
    assert_int_equal(exit_code(HEAPTAP_BAD_INPUT), 3);
    assert_int_equal(exit_code(HEAPTAP_NOT_FOUND), 3);
    assert_int_equal(exit_code(HEAPTAP_BUG), 4);
    assert_int_equal(exit_code(-99), 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flag_may_take_a_number_behind_an_equals_sign),
        cmocka_unit_test(every_form_of_an_option_is_read),
        cmocka_unit_test(an_empty_value_is_refused),
        cmocka_unit_test(zero_is_refused_where_it_means_nothing),
        cmocka_unit_test(a_choice_may_take_a_value),
        cmocka_unit_test(options_may_end_at_the_first_unknown),
        cmocka_unit_test(a_flag_may_take_a_choice_behind_an_equals_sign),
        cmocka_unit_test(arguments_stay_in_their_order),
        cmocka_unit_test(options_end_at_two_dashes),
        cmocka_unit_test(run_stops_at_the_first_argument),
        cmocka_unit_test(help_is_asked_for_anywhere),
        cmocka_unit_test(mistakes_are_refused_with_a_reason),
        cmocka_unit_test(two_runs_do_not_share_options),
        cmocka_unit_test(long_words_overrun_nothing),
        cmocka_unit_test(sizes_are_read_to_the_byte),
        cmocka_unit_test(near_words_are_suggested),
        cmocka_unit_test(help_wraps_at_the_width),
        cmocka_unit_test(errors_become_exit_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
