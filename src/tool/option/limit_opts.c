/* limit_opts.c: parse limits, in the same syntax for all commands that check them. */
#include "option/shared_opts.h"

#include <string.h>

#include "option/opts.h"
#include "util/strbuf.h"

enum { PERCENT_DIGITS_MAX = 11, FRACTION_DIGITS_MAX = 8, WORD_BYTES = 64 };
static_assert(PERCENT_SCALE == 100000000, "FRACTION_DIGITS_MAX digits");

/* Names of limits, in the order of messages. */
static const struct {
    const char *name;
    enum limit_of of;
} names[] = {
    {"peak", LIMIT_PEAK},         {"leaks", LIMIT_LEAKS},
    {"inuse", LIMIT_INUSE},       {"alloc", LIMIT_ALLOC},
    {"allocations", LIMIT_COUNT}, {"temporary", LIMIT_TEMPORARY},
    {"corruption", LIMIT_CORRUPTION},
    {"count", LIMIT_COUNT}, // --metric calls this quantity "count".
};

static bool
may_be_named(const struct limit_rules *rules, size_t i)
{
    return (rules->names >> names[i].of & 1) != 0;
}

const char *
limits_offered(const struct limit_rules *rules, size_t i)
{
    for (size_t k = 0; k < countof(names); k++)
        if (may_be_named(rules, k) && i-- == 0)
            return names[k].name;
    return NULL;
}

static int
unknown_name(const struct limit_rules *rules, const char *word, struct err *err)
{
    struct suggestion s = {.word = word};
    struct strbuf list = {0};
    int rc;

    for (size_t i = 0; i < countof(names); i++)
        if (may_be_named(rules, i)) {
            suggest_offer(&s, names[i].name);
            strbuf_fmt(&list, "%s%s", list.length ? ", " : "", names[i].name);
        }
    rc = err_set(err, HEAPTAP_USAGE, "option '--%s': '%s' is not one of %s%s%s%s", rules->option,
                 word, strbuf_text(&list), s.nearest ? " (did you mean " : "",
                 s.nearest ? s.nearest : "", s.nearest ? "?)" : "");
    strbuf_release(&list);
    return rc;
}

/* Parse the first MAX digits at *TEXT into *RET, and advance *TEXT past all digits. Return the
 * number of digits, including those after the first MAX. */
static int
parse_digits(const char **text, int max, uint64_t *ret)
{
    int digits = 0;

    for (*ret = 0; **text >= '0' && **text <= '9'; ++*text)
        if (digits++ < max)
            *ret = *ret * 10 + (uint64_t)(**text - '0');
    return digits;
}

/* Digits after the eighth of the fraction are dropped: for 10 GB they are less than a byte. */
bool
limits_parse_percent(const char *text, uint64_t *ret)
{
    uint64_t whole, fraction = 0;
    int digits = parse_digits(&text, PERCENT_DIGITS_MAX, &whole);

    if (digits == 0 || digits > PERCENT_DIGITS_MAX)
        return false;
    if (*text == '.') {
        text++;
        digits = parse_digits(&text, FRACTION_DIGITS_MAX, &fraction);
        if (digits == 0)
            return false;
        for (; digits < FRACTION_DIGITS_MAX; digits++)
            fraction *= 10;
    }
    *ret = whole * PERCENT_SCALE + fraction;
    return strcmp(text, "%") == 0;
}

static int
parse_limit(const char *word, const struct limit_rules *rules, struct limit *ret, struct err *err)
{
    *ret = (struct limit){.given = true};
    if (strchr(word, '%') == NULL && opts_parse_size(word, &ret->value))
        return 0;
    ret->is_percent = true;
    if (!limits_parse_percent(word, &ret->value))
        return err_set(err, HEAPTAP_USAGE,
                       "option '--%s': '%s' is no limit; write a number or a size such as 0 or "
                       "64K%s",
                       rules->option, word, rules->percents ? ", or a percentage such as 5%" : "");
    if (rules->percents)
        return 0;
    return err_set(err, HEAPTAP_USAGE,
                   "option '--%s': %s has no base: there is nothing to compare with; write a "
                   "number or a size, or use heaptap diff --fail-over",
                   rules->option, word);
}

/* Store LIMIT for each quantity in the set OF. A limit without a name never replaces one with a
 * name, whichever comes first. */
static int
limit_opts_store(struct limits *ret, uint32_t of, struct limit limit,
                 const struct limit_rules *rules, struct err *err)
{
    for (size_t i = 0; i < LIMIT_KINDS; i++) {
        struct limit *l = &ret->v[i];

        if ((of >> i & 1) == 0)
            continue;
        if (l->given && l->unnamed == limit.unnamed)
            return err_set(err, HEAPTAP_USAGE, "option '--%s': two limits of %s; give one",
                           rules->option, limit_name((enum limit_of)i));
        if (!l->given || l->unnamed)
            *l = limit;
    }
    return 0;
}

/* Parse WORD: NAME, NAME=LIMIT or LIMIT. */
static int
parse_word(char *word, const struct limit_rules *rules, struct limits *ret, struct err *err)
{
    char *equals = strchr(word, '=');
    struct limit limit = {.given = true};
    int rc = 0;

    if (word[0] != '\0' && strchr("0123456789-+.", word[0]) != NULL && equals == NULL) {
        rc = parse_limit(word, rules, &limit, err);
        if (rc == 0 && rules->unnamed == 0)
            return err_set(err, HEAPTAP_USAGE,
                           "option '--%s': %s needs a name, as in leaks=%s or peak=%s",
                           rules->option, word, word, word);
        limit.unnamed = true;
        return rc ? rc : limit_opts_store(ret, rules->unnamed, limit, rules, err);
    }
    if (equals != NULL)
        *equals = '\0';
    for (size_t i = 0; i < countof(names); i++)
        if (may_be_named(rules, i) && strcmp(word, names[i].name) == 0) {
            if (equals != NULL)
                rc = parse_limit(equals + 1, rules, &limit, err);
            return rc ? rc : limit_opts_store(ret, 1u << names[i].of, limit, rules, err);
        }
    return unknown_name(rules, word, err);
}

int
limits_parse(const char *text, const struct limit_rules *rules, struct limits *ret,
             struct err *err)
{
    struct limits limits = {0};
    int rc = 0;

    for (const char *next = text; rc == 0 && next != NULL;) {
        size_t length = strcspn(next, ",");
        char word[WORD_BYTES];

        if (length >= sizeof word)
            return err_set(err, HEAPTAP_USAGE, "option '--%s': '%.60s\xe2\x80\xa6' is no limit",
                           rules->option, next);
        memcpy(word, next, length);
        word[length] = '\0';
        rc = parse_word(word, rules, &limits, err);
        next = next[length] == ',' ? next + length + 1 : NULL;
    }
    if (rc == 0)
        *ret = limits;
    return rc;
}
