/* budget_file.c: read the rules of a budget.
 *
 * A line is empty, a comment, a section or a rule:
 *
 *     # Applies to each process.
 *     peak <= 64M
 *     allocations of audio_callback == 0
 *     self alloc of function "std::map<int, Foo>::insert" <= 4M
 *     leaks of path "main > load > *" <= 1K
 *     maybe temporary of plugin_* <= 20%
 *     allow cut-stacks
 *     [program cc1 test "Codec.*"]
 *     peak <= baseline + 2% + 4K
 *
 * A name without quotation marks ends at the blank in front of "<=" or "==", so most names of C++
 * need none. Lines are independent, and each error has its line and column, so one run shows all of
 * them. Two rules for one amount are an error, unless only one depends on the baseline: the author
 * may have meant either. */
#include "option/budget_file.h"

#include <errno.h>
#include <string.h>

#include "option/opts.h"
#include "option/shared_opts.h"
#include "util/path.h"

enum { WORD_BYTES = 64 };

struct budget_parser {
    const char *name; // Name of the file.
    struct arena *arena;
    struct budget *ret;
    size_t capacity;
    struct strbuf *errors;
    struct strtab seen;   // Rules, by section and amount.
    struct map seen_line; // Id in `seen` to its line.
    const char *program, *test; // Patterns of the section.
    uint32_t line;
    const char *start; // Beginning of the line.
    bool failed;
};

/* Amounts by their names in the file. The first name of each is the one in messages. */
static const struct {
    const char *name;
    enum limit_of of;
} amounts[] = {
    {"peak", LIMIT_PEAK},         {"leaks", LIMIT_LEAKS},
    {"inuse", LIMIT_INUSE},       {"alloc", LIMIT_ALLOC},
    {"allocations", LIMIT_COUNT}, {"temporary", LIMIT_TEMPORARY},
    {"corruption", LIMIT_CORRUPTION},
    {"allocated", LIMIT_ALLOC},   {"short-lived", LIMIT_TEMPORARY},
};

static const char *const scopes[] = {
    [BUDGET_ALL] = "",         [BUDGET_FUNCTION] = "function", [BUDGET_PATH] = "path",
    [BUDGET_MODULE] = "module", [BUDGET_LANGUAGE] = "language", [BUDGET_HEAP] = "heap",
    [BUDGET_LABEL] = "label",  [BUDGET_TYPE] = "type",
};

/* Add an error at AT, a place in the line. Returns false. */
static bool
budget_file_refuse(struct budget_parser *b, const char *at, const char *problem)
{
    strbuf_fmt(b->errors, "%s:%u:%zu: %s\n", b->name, b->line, (size_t)(at - b->start) + 1,
               problem);
    b->failed = true;
    return false;
}

static const char *
skip_blanks(const char *s)
{
    return s + strspn(s, " \t");
}

/* If the word at *S is WORD, move *S behind it and its blanks, and return true. */
static bool
take_word(const char **s, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(*s, word, length) != 0 || strchr(" \t", (*s)[length]) == NULL)
        return false;
    *s = skip_blanks(*s + length);
    return true;
}

/* Return the end of the word at S. */
static const char *
word_end(const char *s)
{
    return s + strcspn(s, " \t");
}

/* Take the quoted text at *S. Backslashes precede quotation marks and backslashes in it. */
static bool
take_quoted(struct budget_parser *b, const char **s, const char **ret)
{
    char *text = arena_strdup(b->arena, *s + 1);
    const char *from = *s + 1;
    size_t length = 0;

    for (; *from != '"'; from++) {
        if (*from == '\\' && (from[1] == '"' || from[1] == '\\'))
            from++;
        if (*from == '\0')
            return budget_file_refuse(b, *s, "the quotation mark is not closed");
        text[length++] = *from;
    }
    text[length] = '\0';
    if (length == 0)
        return budget_file_refuse(b, *s, "the name is empty");
    *s = skip_blanks(from + 1);
    *ret = text;
    return true;
}

/* Return the comparison in S, which follows a blank; NULL if there is none. */
static const char *
find_comparison(const char *s)
{
    for (; *s != '\0'; s++)
        if ((s[0] == ' ' || s[0] == '\t') && (s[1] == '<' || s[1] == '=') && s[2] == '=' &&
            strchr(" \t", s[3]) != NULL)
            return s + 1;
    return NULL;
}

/* Take the name at *S, quoted or up to the comparison. */
static bool
take_name(struct budget_parser *b, const char **s, const char **ret)
{
    const char *end;

    if (**s == '"')
        return take_quoted(b, s, ret);
    end = find_comparison(*s);
    if (end == NULL)
        return budget_file_refuse(b, *s + strlen(*s),
                                  "a comparison is missing; write <= or == and a limit");
    *ret = *s;
    *s = end;
    while (end > *ret && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (end == *ret)
        return budget_file_refuse(b, *ret, "a name is missing after \"of\"");
    *ret = arena_strndup(b->arena, *ret, (size_t)(end - *ret));
    return true;
}

static bool
take_scope(struct budget_parser *b, const char **s, struct budget_rule *r)
{
    const char *at = *s;

    if (!take_word(s, "of"))
        return true;
    r->scope = BUDGET_FUNCTION;
    for (enum budget_scope i = BUDGET_FUNCTION; i < BUDGET_SCOPES; i++) {
        const char *next = *s;

        if (take_word(&next, scopes[i]) && find_comparison(next - 1) != next) {
            r->scope = i;
            *s = next;
            break;
        }
    }
    if (r->of == LIMIT_CORRUPTION)
        return budget_file_refuse(b, at, "corruption is counted for the whole process only");
    return take_name(b, s, &r->name);
}

static bool
take_amount(struct budget_parser *b, const char **s, struct budget_rule *r)
{
    const char *end = word_end(*s);
    char *word = arena_strndup(b->arena, *s, (size_t)(end - *s));
    struct suggestion nearest = {.word = word};

    for (size_t i = 0; i < countof(amounts); i++) {
        if (strcmp(word, amounts[i].name) == 0) {
            r->of = amounts[i].of;
            *s = skip_blanks(end);
            return true;
        }
        suggest_offer(&nearest, amounts[i].name);
    }
    return budget_file_refuse(
        b, *s,
        arena_printf(b->arena,
                     "'%.40s' is no amount%s%s%s; use peak, leaks, inuse, alloc, allocations, "
                     "temporary or corruption",
                     word, nearest.nearest ? " (did you mean " : "",
                     nearest.nearest ? nearest.nearest : "", nearest.nearest ? "?)" : ""));
}

/* Take one term of a limit, WORD at AT. */
static bool
take_term(struct budget_parser *b, const char *at, const char *word, struct budget_rule *r)
{
    uint64_t value;

    if (strcmp(word, "baseline") == 0) {
        if (r->of_baseline)
            return budget_file_refuse(b, at, "baseline is given twice");
        r->of_baseline = true;
    } else if (limits_parse_percent(word, &value)) {
        if (r->has_percent)
            return budget_file_refuse(b, at, "a limit has at most one percentage");
        r->has_percent = true;
        r->percent = value;
    } else if (opts_parse_size(word, &value) && value <= INT64_MAX) {
        if (r->amount > INT64_MAX - value)
            return budget_file_refuse(b, at, "the limit is too large");
        r->amount += value;
    } else {
        return budget_file_refuse(b, at,
                                  arena_printf(b->arena,
                                               "'%.40s' is no limit; write a number, a size such "
                                               "as 64K or 1.5M, a percentage or baseline",
                                               word));
    }
    return true;
}

/* Take the limit: terms with plus signs between them. */
static bool
take_limit(struct budget_parser *b, const char *s, struct budget_rule *r)
{
    const char *start = s;

    for (;;) {
        size_t length = strcspn(s, " \t+");
        const char *after = skip_blanks(s + length);

        if (!take_term(b, s, arena_strndup(b->arena, s, length), r))
            return false;
        if (*after == '\0' || *after == '#') {
            r->text = arena_strndup(b->arena, r->text, (size_t)(s + length - r->text));
            break;
        }
        if (*after != '+')
            return budget_file_refuse(b, after, "only \"+\" and a further term may follow");
        s = skip_blanks(after + 1);
    }
    if (r->has_percent && !r->of_baseline && r->of != LIMIT_TEMPORARY && r->scope == BUDGET_ALL)
        return budget_file_refuse(b, start,
                                  "the percentage has no base; write \"baseline + 5%\", or give a "
                                  "size");
    return true;
}

/* Return S in quotation marks. */
static const char *
quoted(struct arena *arena, const char *s)
{
    struct strbuf out = {0};
    const char *text;

    strbuf_char(&out, '"');
    for (; *s != '\0'; s++) {
        if (*s == '"' || *s == '\\')
            strbuf_char(&out, '\\');
        strbuf_char(&out, *s);
    }
    strbuf_char(&out, '"');
    text = arena_strdup(arena, strbuf_text(&out));
    strbuf_release(&out);
    return text;
}

/* Refuse R, at AT, if an earlier rule is about the same amount. */
static bool
check_twice(struct budget_parser *b, const char *at, const struct budget_rule *r)
{
    uint32_t id = strtab_id(
        &b->seen, arena_printf(b->arena, "%d%s\n%s\n%s", r->of_baseline,
                               r->program ? r->program : "", r->test ? r->test : "", r->what));
    bool is_new;
    uint64_t *line = map_put(&b->seen_line, id, &is_new);

    if (is_new) {
        *line = b->line;
        return true;
    }
    return budget_file_refuse(b, at,
                              arena_printf(b->arena,
                                           "the rule in line %u limits the same amount; keep one",
                                           (uint32_t)*line));
}

static void
parse_rule(struct budget_parser *b, const char *s)
{
    struct budget_rule r = {.text = s,
                            .program = b->program,
                            .test = b->test,
                            .line = b->line,
                            .column = (uint32_t)(s - b->start) + 1};
    const char *at = s;

    r.maybe = take_word(&s, "maybe");
    r.self = take_word(&s, "self");
    if (!take_amount(b, &s, &r) || !take_scope(b, &s, &r))
        return;
    if (r.self && (r.scope < BUDGET_FUNCTION || r.scope > BUDGET_LANGUAGE ||
                   r.scope == BUDGET_PATH)) {
        budget_file_refuse(b, at, "self needs a function, a module or a language; write \"of\" and "
                                  "its name");
        return;
    }
    r.is_exact = strncmp(s, "==", 2) == 0;
    if (!r.is_exact && strncmp(s, "<=", 2) != 0) {
        budget_file_refuse(b, s, "a comparison is missing; write <= or == and a limit");
        return;
    }
    if (!take_limit(b, skip_blanks(s + 2), &r))
        return;
    r.what = r.scope == BUDGET_ALL
                 ? limit_name(r.of)
                 : arena_printf(b->arena, "%s%s of %s %s", r.self ? "self " : "",
                                limit_name(r.of), scopes[r.scope], quoted(b->arena, r.name));
    if (!check_twice(b, at, &r))
        return;
    arena_grow(b->arena, &b->ret->v, &b->capacity, b->ret->count, sizeof *b->ret->v);
    b->ret->v[b->ret->count++] = r;
}

/* Parse the section at S, behind its bracket: "program NAME", "test NAME" or both. */
static void
parse_section(struct budget_parser *b, const char *s)
{
    const char *end = strrchr(s, ']');

    b->program = b->test = NULL;
    if (end == NULL || *skip_blanks(end + 1) != '\0') {
        budget_file_refuse(b, end ? skip_blanks(end + 1) : s + strlen(s),
                           "a section ends with ], and the line with it");
        return;
    }
    for (s = skip_blanks(s); s < end;) {
        const char *at = s;
        const char **of = take_word(&s, "program") ? &b->program
                          : take_word(&s, "test")  ? &b->test
                                                   : NULL;

        if (of == NULL || *of != NULL || s >= end) {
            budget_file_refuse(b, at, "a section names a program, a test or both, once each: "
                                      "[program NAME test NAME]");
            return;
        }
        if (*s == '"') {
            if (!take_quoted(b, &s, of))
                return;
        } else {
            const char *word = s;

            s = word_end(s) < end ? word_end(s) : end;
            *of = arena_strndup(b->arena, word, (size_t)(s - word));
            s = skip_blanks(s);
        }
    }
    if (b->program == NULL && b->test == NULL)
        budget_file_refuse(b, s, "the section names nothing; write [program NAME] or [test NAME]");
}

static void
parse_allow(struct budget_parser *b, const char *s)
{
    if (strcmp(s, "losses") == 0)
        b->ret->allows |= BUDGET_ALLOW_LOSSES;
    else if (strcmp(s, "cut-stacks") == 0)
        b->ret->allows |= BUDGET_ALLOW_CUT_STACKS;
    else
        budget_file_refuse(b, s, "only \"losses\" and \"cut-stacks\" can be allowed");
}

/* Parse the LENGTH bytes of a line. */
static void
parse_line(struct budget_parser *b, const char *line, size_t length)
{
    const char *zero = memchr(line, '\0', length);
    const char *s;

    while (length > 0 && strchr(" \t\r", line[length - 1]) != NULL && line[length - 1] != '\0')
        length--;
    b->start = arena_strndup(b->arena, line, length);
    s = skip_blanks(b->start);
    if (zero != NULL && zero < line + length)
        budget_file_refuse(b, b->start + (zero - line), "a zero byte; a budget is a text");
    else if (*s == '[')
        parse_section(b, s + 1);
    else if (take_word(&s, "allow"))
        parse_allow(b, s);
    else if (*s != '\0' && *s != '#')
        parse_rule(b, s);
}

int
budget_file_parse(const char *text, size_t length, const char *name, struct arena *arena,
                  struct budget *ret, struct strbuf *errors)
{
    struct budget_parser b = {.name = name, .arena = arena, .ret = ret, .errors = errors};
    const char *end = text + length;

    *ret = (struct budget){.path = arena_strdup(arena, name)};
    for (const char *s = text; s < end;) {
        const char *newline = memchr(s, '\n', (size_t)(end - s));
        const char *stop = newline != NULL ? newline : end;

        b.line++;
        parse_line(&b, s, (size_t)(stop - s));
        s = stop + 1;
    }
    if (!b.failed && ret->count == 0) {
        strbuf_fmt(errors, "%s:1:1: the budget has no rule; write one such as \"peak <= 64M\"\n",
                   name);
        b.failed = true;
    }
    strtab_release(&b.seen);
    map_release(&b.seen_line);
    return b.failed ? HEAPTAP_USAGE : 0;
}

int
budget_file_read(const char *path, struct arena *arena, struct budget *ret, struct strbuf *errors)
{
    FILE *f = fopen(path, "re");
    struct strbuf text = {0};
    const char *why = f != NULL ? text_read(f, &text) : strerror(errno);
    int rc = HEAPTAP_BAD_INPUT;

    if (f != NULL)
        fclose(f);
    if (why != NULL)
        strbuf_fmt(errors, "%s: the budget cannot be read: %s\n", path, why);
    else
        rc = budget_file_parse(strbuf_text(&text), text.length, path, arena, ret, errors);
    strbuf_release(&text);
    return rc;
}
