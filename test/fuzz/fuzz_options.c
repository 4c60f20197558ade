/* fuzz_options.c: parse arbitrary command lines.
 *
 * The input's first byte selects whether options end at the first argument. The other bytes are the
 * arguments, each ended by a zero byte. For any input, the parser must leave a subsequence of the
 * given arguments, return only strings that are inside the arguments and choices that are in their
 * list, and report mistakes. */
/* covers: opts.c limit_opts.c */
#include <stdlib.h>
#include <string.h>

#include "option/opts.h"
#include "option/shared_opts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARGUMENTS_MAX = 64 };

static const char *const shapes[] = {"tree", "table", "flat", NULL};

struct values {
    bool json, wide;
    const char *fold;
    uint64_t budget_bytes, limit;
    int shape, form;
};

static const struct values defaults;

static const struct opt table[] = {
    {OPT_FLAG, 'j', "json", &defaults.json, NULL, "Print JSON.", NULL},
    {OPT_FLAG, 'w', "wide", &defaults.wide, NULL, "Do not cut.", NULL},
    {OPT_STRING, 'f', "fold", &defaults.fold, "REGEX", "Fold.", NULL},
    {OPT_SIZE, 'b', "budget", &defaults.budget_bytes, "BYTES", "Budget.", NULL},
    {OPT_COUNT, 'n', "limit", &defaults.limit, "N", "Limit.", NULL},
    {OPT_CHOICE, 's', "shape", &defaults.shape, "SHAPE", "Shape.", shapes},
    {OPT_FLAG_OF, 'o', "form", &defaults.form, "FORM", "Form.", shapes},
    {.kind = OPT_END},
};

static void
options_require(bool condition)
{
    if (!condition)
        __builtin_trap();
}

/* The remaining arguments must be a subsequence of the given ones. */
static void
require_subsequence(char *const *left, int left_count, char *const *given, int given_count)
{
    int g = 0;

    for (int i = 0; i < left_count; i++) {
        while (g < given_count && given[g] != left[i])
            g++;
        options_require(g++ < given_count);
    }
}

/* Parse TEXT as limits: either all of it is parsed, or there is an error. */
static void
read_limits(const char *text)
{
    static const struct limit_rules rules[] = {
        {.option = "a", .names = (1u << LIMIT_KINDS) - 1, .unnamed = 1, .percents = true},
        {.option = "b", .names = 1u << LIMIT_LEAKS}};

    for (size_t i = 0; i < countof(rules); i++) {
        struct limits limits = {0};
        struct err err = {""};
        int rc = limits_parse(text, &rules[i], &limits, &err);

        options_require(rc == 0 || (rc == HEAPTAP_USAGE && err.text[0] != '\0'));
        options_require(limits_are_given(&limits) == (rc == 0));
    }
}

static void
options_parse(bool stop_at_first, int count, char **arguments, const char *text, size_t text_bytes)
{
    const struct command c = {.options = table,
                              .defaults = &defaults,
                              .defaults_bytes = sizeof defaults,
                              .stop_at_first = stop_at_first};
    struct values got = defaults;
    char *given[ARGUMENTS_MAX];
    struct err err = {""};
    int left = -1, rc;

    memcpy(given, arguments, sizeof(given));
    rc = opts_parse(&c, &got, count, arguments, &left, &err);
    options_require(rc == 0 || rc == OPTS_HELP || rc == HEAPTAP_USAGE);
    options_require(rc != HEAPTAP_USAGE || err.text[0] != '\0');
    options_require(got.shape >= 0 && got.shape < (int)countof(shapes) - 1);
    options_require(got.form >= 0 && got.form < (int)countof(shapes));
    options_require(got.fold == NULL || (got.fold >= text && got.fold <= text + text_bytes));
    if (got.fold != NULL)
        read_limits(got.fold);
    if (rc == 0) {
        options_require(left >= 0 && left <= count);
        require_subsequence(arguments, left, given, count);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *arguments[ARGUMENTS_MAX] = {NULL}, *text;
    int count = 0;

    if (size == 0)
        return 0;
    text = malloc(size);
    options_require(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    for (size_t at = 0; at < size && count < ARGUMENTS_MAX; at += strlen(text + at) + 1)
        arguments[count++] = text + at;
    options_parse(data[0] & 1, count, arguments, text, size);
    free(text);
    return 0;
}
