/* opts.c: the option parser, driven by the tables of opts.h.
 *
 * It follows GNU conventions: --name=value, --name value, -n value, -nvalue, flags combined as -ab,
 * options after arguments, and "--" for the end of options. Names cannot be abbreviated, because a
 * new option must not break existing scripts; a mistyped name gets a suggestion instead. An
 * optional value, as in --json[=FORM], needs "=", because after a blank it could be an argument.
 *
 * Lists are the only memory that is allocated; opts_release frees them.
 *
 * The parser stores values in a copy of the command's defaults, at the same offset as the row's
 * address in the defaults. It stops at the first error. Earlier values are then stored already, and
 * the caller must not use them. */
#include "option/opts.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/arena.h"
#include "util/strbuf.h"

struct parser {
    const struct command *command;
    const struct opt *options;
    void *values;
    char **arguments;
    int count;
    int next; // Index of the next argument.
    struct err *err;
};

static void *opts_place_of(const struct parser *p, const struct opt *o);
static int parse_long(struct parser *p, const char *text);
static int parse_letters(struct parser *p, const char *letters);
static const struct opt *find_long(const struct opt *options, const char *name, size_t length);
static const struct opt *find_letter(const struct opt *options, char letter);

/* Return true if TEXT is one of the command's options, or "--". */
static bool
opts_is_known(const struct parser *p, const char *text)
{
    if (strncmp(text, "--", 2) != 0)
        return text[0] == '-' && (text[1] == 'h' || find_letter(p->options, text[1]) != NULL) &&
               text[2] == '\0';
    return text[2] == '\0' || strcmp(text, "--help") == 0 ||
           find_long(p->options, text + 2, strcspn(text + 2, "=")) != NULL;
}

int
opts_parse(const struct command *c, void *values, int count, char **arguments, int *ret_left,
           struct err *err)
{
    static const struct opt no_options[] = {{.kind = OPT_END}};
    struct parser p = {.command = c,
                       .options = c->options ? c->options : no_options,
                       .values = values,
                       .arguments = arguments,
                       .count = count,
                       .err = err};
    bool ended = false;
    int left = 0;

    while (p.next < count) {
        char *text = arguments[p.next++];
        int rc = 0;

        ended |= c->stop_at_unknown && !opts_is_known(&p, text);
        if (ended || text[0] != '-' || text[1] == '\0') {
            arguments[left++] = text;
            ended |= c->stop_at_first;
        } else if (strcmp(text, "--") == 0) {
            ended = true;
        } else if (text[1] == '-') {
            rc = parse_long(&p, text + 2);
        } else {
            rc = parse_letters(&p, text + 1);
        }
        if (rc != 0)
            return rc;
    }
    *ret_left = left;
    return 0;
}

void
opts_release(const struct command *c, void *values)
{
    struct parser p = {.command = c, .values = values};

    for (const struct opt *o = c->options; o != NULL && o->kind != OPT_END; o++)
        if (o->kind == OPT_LIST)
            free(((struct opt_list *)opts_place_of(&p, o))->items);
}

/* Set *RET to WHOLE.FRACTION units of UNIT bytes, rounded down. Return false if the result exceeds
 * 64 bits. */
static bool
scale(uint64_t whole, const char *fraction, size_t digits, uint64_t unit, uint64_t *ret)
{
    uint64_t result, part = 0, divisor = 1;

    for (size_t i = 0; i < digits; i++) {
        part = part * 10 + (uint64_t)(fraction[i] - '0');
        divisor *= 10;
    }
    // 2^40 bytes times 10^6 is less than 2^64.
    if (__builtin_mul_overflow(whole, unit, &result) ||
        __builtin_add_overflow(result, part * unit / divisor, &result))
        return false;
    *ret = result;
    return true;
}

static bool
parse_digits(const char **text, uint64_t *ret)
{
    const char *s = *text;
    uint64_t n = 0;

    for (; *s >= '0' && *s <= '9'; s++)
        if (__builtin_mul_overflow(n, 10u, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*s - '0'), &n))
            return false;
    if (s == *text)
        return false;
    *text = s;
    *ret = n;
    return true;
}

bool
opts_parse_size(const char *text, uint64_t *ret)
{
    static const char units[] = "KMGT";
    enum { FRACTION_DIGITS_MAX = 6 };
    const char *fraction = "", *unit;
    size_t digits = 0;
    uint64_t whole;

    if (!parse_digits(&text, &whole))
        return false;
    if (*text == '.') {
        fraction = text + 1;
        digits = strspn(fraction, "0123456789");
        if (digits == 0 || digits > FRACTION_DIGITS_MAX)
            return false;
        text = fraction + digits;
    }
    if (*text == '\0' && digits == 0) {
        *ret = whole;
        return true;
    }
    unit = isalpha((unsigned char)*text) ? strchr(units, *text & ~0x20) : NULL;
    if (unit == NULL || (text[1] != '\0' && strcmp(text + 1, "iB") != 0))
        return false;
    return scale(whole, fraction, digits, (uint64_t)1 << (10 * (unit - units + 1)), ret);
}

const char *
opts_after_choice(const char *choice)
{
    size_t length = strlen(choice);

    return length > 0 && choice[length - 1] == '=' ? "KEY" : "";
}

bool
opts_is_flag(const struct opt *o)
{
    return o->kind == OPT_FLAG || opts_may_have_value(o);
}

bool
opts_may_have_value(const struct opt *o)
{
    return o->kind == OPT_FLAG_OF || o->kind == OPT_COUNT_OF;
}

bool
opts_has_choices(const struct opt *o)
{
    return o->kind == OPT_CHOICE || o->kind == OPT_CHOICE_OF || o->kind == OPT_FLAG_OF;
}

/* Return true if TEXT is choice I of O: "name", or "name=" with more text. */
static bool
is_choice(const struct opt *o, const char *text, int i)
{
    size_t length = strlen(o->choices[i]);

    if (*opts_after_choice(o->choices[i]))
        return strncmp(text, o->choices[i], length) == 0 && text[length] != '\0';
    return strcmp(text, o->choices[i]) == 0;
}

/* Return the address for the value of O. It is checked, because a row that points outside the
 * struct would overwrite other data. */
static void *
opts_place_of(const struct parser *p, const struct opt *o)
{
    const struct command *c = p->command;
    size_t offset = (size_t)((uintptr_t)o->value - (uintptr_t)c->defaults);

    assert(offset < c->defaults_bytes);
    return (char *)p->values + offset;
}

static void
store_choice(const struct opt *o, const char *text, int i, void *place)
{
    const char *equals = strchr(text, '=');

    if (o->kind == OPT_FLAG_OF)
        *(int *)place = i + 1;
    else if (o->kind == OPT_CHOICE)
        *(int *)place = i;
    else
        *(struct opt_choice *)place = (struct opt_choice){i, equals ? equals + 1 : NULL};
}

static int
parse_choice(const struct opt *o, const char *text, void *place, struct err *err)
{
    struct suggestion s = {.word = text};
    struct strbuf list = {0};
    int rc;

    for (int i = 0; o->choices[i] != NULL; i++) {
        if (is_choice(o, text, i)) {
            store_choice(o, text, i, place);
            strbuf_release(&list);
            return 0;
        }
        suggest_offer(&s, o->choices[i]);
        strbuf_fmt(&list, "%s%s%s", i ? ", " : "", o->choices[i], opts_after_choice(o->choices[i]));
    }
    if (s.nearest)
        rc = err_set(err, HEAPTAP_USAGE,
                     "option '--%s': '%.60s' is not one of %s (did you mean %s?)", o->name, text,
                     strbuf_text(&list), s.nearest);
    else
        rc = err_set(err, HEAPTAP_USAGE, "option '--%s': '%.60s' is not one of %s", o->name, text,
                     strbuf_text(&list));
    strbuf_release(&list);
    return rc;
}

/* Reject an explicit 0: in the structs of options, 0 means "not given", so it would select the
 * default. */
static int
refuse_zero(const struct opt *o, struct err *err)
{
    return err_set(err, HEAPTAP_USAGE,
                   "option '--%s': 0 is none; write 1 or more, or leave the option out", o->name);
}

static int
store_size(const struct opt *o, const char *text, uint64_t *place, struct err *err)
{
    if (!opts_parse_size(text, place))
        return err_set(
            err, HEAPTAP_USAGE,
            "option '--%s': '%.60s' is no size; write a number such as 4096, 64K, 1.5M or 2G",
            o->name, text);
    return *place == 0 ? refuse_zero(o, err) : 0;
}

static int
store_count(const struct opt *o, const char *text, uint64_t *place, struct err *err)
{
    const char *rest = text;
    uint64_t n;

    if (!parse_digits(&rest, &n) || *rest != '\0')
        return err_set(err, HEAPTAP_USAGE, "option '--%s': '%.60s' is not a whole number in range",
                       o->name, text);
    if (n == 0 && o->kind != OPT_COUNT_0)
        return refuse_zero(o, err);
    *place = n;
    return 0;
}

static void
add_to_list(struct opt_list *list, const char *text)
{
    list->items = xrealloc(list->items, (list->count + 1) * sizeof *list->items);
    list->items[list->count++] = text;
}

static int
opts_store(struct parser *p, const struct opt *o, const char *text)
{
    void *place = opts_place_of(p, o);
    struct err *err = p->err;

    // An empty value comes from a variable that a script forgot to set; it would name no file, or
    // every program.
    if ((o->kind == OPT_STRING || o->kind == OPT_LIST) && *text == '\0')
        return err_set(err, HEAPTAP_USAGE, "option '--%s': its value, %s, is empty", o->name,
                       o->argument);
    switch (o->kind) {
    case OPT_FLAG:
        *(bool *)place = true;
        return 0;
    case OPT_STRING:
        *(const char **)place = text;
        return 0;
    case OPT_SIZE:
        return store_size(o, text, place, err);
    case OPT_COUNT_OF:
        if (text == NULL) {
            *(uint64_t *)place = OPT_ALONE;
            return 0;
        }
        return store_count(o, text, place, err);
    case OPT_COUNT:
    case OPT_COUNT_0:
        return store_count(o, text, place, err);
    case OPT_FLAG_OF:
        if (text == NULL) {
            *(int *)place = 1;
            return 0;
        }
        return parse_choice(o, text, place, err);
    case OPT_CHOICE:
    case OPT_CHOICE_OF:
        return parse_choice(o, text, place, err);
    case OPT_LIST:
        add_to_list(place, text);
        return 0;
    case OPT_END:
        break;
    }
    return err_set(err, HEAPTAP_BUG, "option '--%s' has no kind", o->name);
}

static const struct opt *
find_long(const struct opt *options, const char *name, size_t length)
{
    for (const struct opt *o = options; o->kind != OPT_END; o++)
        if (strncmp(o->name, name, length) == 0 && o->name[length] == '\0')
            return o;
    return NULL;
}

static const struct opt *
find_letter(const struct opt *options, char letter)
{
    for (const struct opt *o = options; o->kind != OPT_END; o++)
        if (o->letter != 0 && o->letter == letter)
            return o;
    return NULL;
}

static int
unknown_long(struct parser *p, const char *name)
{
    struct suggestion s = {.word = name};

    for (const struct opt *o = p->options; o->kind != OPT_END; o++)
        suggest_offer(&s, o->name);
    suggest_offer(&s, "help");
    if (s.nearest)
        return err_set(p->err, HEAPTAP_USAGE, "unknown option '--%s' (did you mean --%s?)", name,
                       s.nearest);
    return err_set(p->err, HEAPTAP_USAGE, "unknown option '--%.60s'", name);
}

/* Store the next argument as the value of O. Return HEAPTAP_USAGE if there is none. */
static int
store_next(struct parser *p, const struct opt *o)
{
    if (p->next >= p->count)
        return err_set(p->err, HEAPTAP_USAGE, "option '--%s' needs a value: --%s %s", o->name,
                       o->name, o->argument);
    return opts_store(p, o, p->arguments[p->next++]);
}

/* Parse TEXT, "name" or "name=value". */
static int
parse_long(struct parser *p, const char *text)
{
    size_t length = strcspn(text, "=");
    const struct opt *o = find_long(p->options, text, length);
    char name[64];

    if (o == NULL) {
        if (strcmp(text, "help") == 0)
            return OPTS_HELP;
        if (length >= sizeof(name))
            return err_set(p->err, HEAPTAP_USAGE, "unknown option '--%.60s…'", text);
        memcpy(name, text, length);
        name[length] = '\0';
        return unknown_long(p, name);
    }
    if (o->kind == OPT_FLAG) {
        if (text[length] == '=')
            return err_set(p->err, HEAPTAP_USAGE, "option '--%s' takes no value", o->name);
        return opts_store(p, o, NULL);
    }
    if (text[length] == '=')
        return opts_store(p, o, text + length + 1);
    return opts_is_flag(o) ? opts_store(p, o, NULL) : store_next(p, o);
}

/* Parse LETTERS: flags, with at most one option with a value at the end: "ab", "n5", "an5", "n". */
static int
parse_letters(struct parser *p, const char *letters)
{
    for (const char *l = letters; *l != '\0'; l++) {
        const struct opt *o = find_letter(p->options, *l);
        int rc;

        if (o == NULL) {
            if (*l == 'h')
                return OPTS_HELP;
            // A letter may be the first byte of a longer character, so the message has the whole
            // argument.
            if ((unsigned char)*l >= 0x80)
                return err_set(p->err, HEAPTAP_USAGE, "unknown option '-%.60s'", letters);
            return err_set(p->err, HEAPTAP_USAGE, "unknown option '-%c'", *l);
        }
        if (!opts_is_flag(o))
            return l[1] != '\0' ? opts_store(p, o, l + 1) : store_next(p, o);
        rc = opts_store(p, o, NULL);
        if (rc != 0)
            return rc;
    }
    return 0;
}

const struct command *
command_find(const struct command_group *groups, const char *name)
{
    for (const struct command_group *g = groups; g->title != NULL; g++)
        for (const struct command *const *c = g->commands; *c != NULL; c++)
            if (strcmp((*c)->name, name) == 0 ||
                ((*c)->alias && strcmp((*c)->alias, name) == 0))
                return *c;
    return NULL;
}

int
exit_code(int errc)
{
    switch (errc) {
    case HEAPTAP_OK:
        return 0;
    case HEAPTAP_USAGE:
        return EXIT_USAGE;
    case HEAPTAP_BAD_INPUT:
    case HEAPTAP_NOT_FOUND:
    case HEAPTAP_NO_DEBUG_INFO:
    case HEAPTAP_NO_PROGRAM:
        return EXIT_BAD_INPUT;
    default:
        return EXIT_BUG;
    }
}
