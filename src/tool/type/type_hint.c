/* type_hint.c: extract type hints from one statement of C or C++.
 *
 *     w->items = (struct item *)xcalloc(n, sizeof(struct item));
 *     ~~~~~~~~   ~~~~~~~~~~~~~~              ~~~~~~~~~~~~~~~~~
 *     TARGET     CAST                        SIZEOF
 *
 * Debug information has variables and their types, but no expressions. In the source, the type is
 * written beside nearly every allocation. A full parser is not needed: the statement is the text
 * between the nearest ";", "{" and "}" around the line, outside of comments and literals, and a few
 * token patterns are matched in it. This file does not decide whether a word is a type. The caller
 * resolves the words (type_facts.c), and drops hints with unknown words.
 *
 * Macros are not expanded, and "#if" is ignored. The text is untrusted, so the length of a
 * statement is limited. */
#include "type/type_hint.h"

#include <ctype.h>
#include <string.h>

enum {
    TOKENS_MAX = 400, // Maximum length of a statement.
    LINES_BACK = 12,  // Maximum distance of the start above the line.
};

static const char *const allocators[] = {"malloc",       "calloc",        "realloc",
                                         "reallocarray", "aligned_alloc", "posix_memalign",
                                         "memalign",     "new",           NULL};

/* Tokens of the part of the source around the line. */
struct statement {
    struct hint_token *tokens;
    size_t count;
    size_t first, end; // Range of the statement.
};

struct finder {
    const struct hint_token *t;
    size_t first, call, end; // Range of the statement, and index of the callee's name.
    struct type_hint *hints;
    size_t count;
};

static bool
is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool
type_hint_is(const struct hint_token *t, const char *text)
{
    return strlen(text) == t->length && memcmp(t->text, text, t->length) == 0;
}

static bool
is_any(const struct hint_token *t, const char *const *texts)
{
    for (; *texts != NULL; texts++)
        if (type_hint_is(t, *texts))
            return true;
    return false;
}

/* Return the end of the comment or literal at S; S if there is none. */
static const char *
skip_text(const char *s, const char *end)
{
    char quote = *s;

    if (s + 1 < end && s[0] == '/' && s[1] == '/') {
        s = memchr(s, '\n', (size_t)(end - s));
        return s != NULL ? s : end;
    }
    if (s + 1 < end && s[0] == '/' && s[1] == '*') {
        const char *close = memmem(s + 2, (size_t)(end - s - 2), "*/", 2);

        return close != NULL ? close + 2 : end;
    }
    if (quote != '"' && quote != '\'')
        return s;
    for (s++; s < end && *s != quote && *s != '\n'; s++)
        if (*s == '\\' && s + 1 < end)
            s++;
    return s < end ? s + 1 : end;
}

static size_t
symbol_length(const char *s, const char *end)
{
    if (s + 1 < end && ((s[0] == '-' && s[1] == '>') || (s[0] == ':' && s[1] == ':') ||
                        (s[1] == '=' && strchr("=!<>+-*/|&^%", s[0]) != NULL)))
        return 2;
    return 1;
}

/* Return the start of the line LINES_BACK above LINE, and set *RET_AT to the start of LINE. Return
 * NULL if the text has no such line. */
static const char *
type_hint_find_line(const char *source, const char *end, uint32_t line, const char **ret_at)
{
    const char *starts[LINES_BACK];
    const char *s = source;
    uint32_t n = 1;

    for (; n < line; n++) {
        const char *newline = memchr(s, '\n', (size_t)(end - s));

        if (newline == NULL)
            return NULL;
        starts[n % LINES_BACK] = s;
        s = newline + 1;
    }
    *ret_at = s;
    return line > LINES_BACK ? starts[line % LINES_BACK] : source;
}

/* Return the end of the directive: a newline without a backslash before it. */
static const char *
skip_directive(const char *s, const char *end)
{
    while (s < end && !(*s == '\n' && s[-1] != '\\'))
        s++;
    return s;
}

static bool
ends_statement(const struct hint_token *t)
{
    return t->length == 1 && strchr(";{}", *t->text) != NULL;
}

/* Return the token at S, where no blank or comment begins. */
static struct hint_token
read_token(const char *s, const char *end)
{
    struct hint_token t = {.text = s, .length = 1, .is_word = is_word_char(*s)};

    if (t.is_word)
        while (s + t.length < end && is_word_char(s[t.length]))
            t.length++;
    else
        t.length = (uint32_t)symbol_length(s, end);
    return t;
}

/* Return the start of the next token, after blanks, comments, literals and directives. */
static const char *
next_token(const char *s, const char *end, bool *line_begins)
{
    while (s < end) {
        const char *next = skip_text(s, end);

        if (next == s && *s == '#' && *line_begins)
            next = skip_directive(s, end);
        else if (next == s && isspace((unsigned char)*s))
            *line_begins = *line_begins || *s == '\n', next++;
        if (next == s)
            break;
        s = next;
    }
    *line_begins = false;
    return s;
}

static bool
calls_any(const struct hint_token *t, size_t count, const char *callee)
{
    for (size_t i = 0; i < count; i++)
        if (is_any(&t[i], allocators) || (callee != NULL && type_hint_is(&t[i], callee)))
            return true;
    return false;
}

/* Select the statement that has just ended if it may be the one at AT. Return true if it certainly
 * is. */
static bool
take_statement(struct statement *st, size_t first, const char *at, const char *callee)
{
    if (st->count == first || st->tokens[st->count - 1].text < at)
        return false;
    if (!calls_any(st->tokens + first, st->count - first, callee)) {
        // Without a call of CALLEE or an allocator, a macro may allocate. Select this statement
        // unless a later one on the line has such a call.
        if (st->end == 0) {
            st->first = first;
            st->end = st->count;
        }
        return false;
    }
    st->first = first;
    st->end = st->count;
    return true;
}

/* Tokenize the text between FROM and END, and select the statement at AT that calls CALLEE. */
static void
read_statement(struct statement *st, const char *from, const char *at, const char *end,
               const char *callee)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const char *line_end = newline != NULL ? newline : end;
    bool line_begins = true;
    size_t depth = 0;
    size_t first = 0;

    for (const char *s = from; st->count < TOKENS_MAX;) {
        struct hint_token t;

        s = next_token(s, end, &line_begins);
        if (s >= end)
            break;
        t = read_token(s, end);
        s += t.length;
        if (type_hint_is(&t, "("))
            depth++;
        else if (type_hint_is(&t, ")") && depth > 0)
            depth--;
        if (ends_statement(&t) && (depth == 0 || *t.text != ';')) {
            if (st->count > first && st->tokens[first].text >= line_end)
                break;
            if (take_statement(st, first, at, callee) || t.text >= line_end)
                break;
            first = st->count;
            depth = 0;
        } else {
            st->tokens[st->count++] = t;
        }
    }
}

/* Return the index after the parenthesis that closes the one at I. */
static size_t
after_parenthesis(const struct finder *f, size_t i)
{
    size_t depth = 0;

    for (; i < f->end; i++) {
        if (type_hint_is(&f->t[i], "("))
            depth++;
        else if (type_hint_is(&f->t[i], ")") && --depth == 0)
            return i + 1;
    }
    return f->end;
}

static void
type_hint_add(struct finder *f, enum hint_kind kind, size_t first, size_t end)
{
    if (f->count < HINTS_MAX && first < end)
        f->hints[f->count++] =
            (struct type_hint){.kind = kind, .tokens = f->t + first, .count = end - first};
}

/* Return the index after the operand that begins at I: words joined by -> . :: with their brackets,
 * and * and & before them. */
static size_t
operand_end(const struct finder *f, size_t i)
{
    while (i < f->end && (type_hint_is(&f->t[i], "*") || type_hint_is(&f->t[i], "&")))
        i++;
    while (i < f->end) {
        if (f->t[i].is_word || type_hint_is(&f->t[i], "->") || type_hint_is(&f->t[i], ".") ||
            type_hint_is(&f->t[i], "::")) {
            i++;
        } else if (type_hint_is(&f->t[i], "[")) {
            while (i < f->end && !type_hint_is(&f->t[i], "]"))
                i++;
            i++;
        } else {
            break;
        }
    }
    return i < f->end ? i : f->end;
}

static void
find_sizeofs(struct finder *f)
{
    for (size_t i = f->first; i + 1 < f->end; i++) {
        size_t end;
        size_t before = f->count;

        if (!type_hint_is(&f->t[i], "sizeof"))
            continue;
        if (type_hint_is(&f->t[i + 1], "(")) {
            end = after_parenthesis(f, i + 1);
            type_hint_add(f, HINT_SIZEOF, i + 2, end - 1);
        } else {
            end = operand_end(f, i + 1);
            type_hint_add(f, HINT_SIZEOF, i + 1, end);
        }
        if (f->count > before)
            f->hints[before].in_sum = (end < f->end && type_hint_is(&f->t[end], "+")) ||
                                      (i > f->first && type_hint_is(&f->t[i - 1], "+"));
    }
}

/* Find the type after "new", or in the angle brackets of make_unique and similar functions. */
static void
find_new(struct finder *f)
{
    static const char *const makers[] = {"make_unique", "make_shared", NULL};

    for (size_t i = f->first; i + 1 < f->end; i++) {
        size_t from = i + 1;
        size_t end;

        if (type_hint_is(&f->t[i], "new")) {
            if (type_hint_is(&f->t[from], "("))
                from = after_parenthesis(f, from);
            for (end = from; end < f->end && (f->t[end].is_word || type_hint_is(&f->t[end], "::"));
                 end++)
                ;
            if (end == f->end || !type_hint_is(&f->t[end], "<"))
                type_hint_add(f, HINT_NEW, from, end);
        } else if (is_any(&f->t[i], makers) && type_hint_is(&f->t[from], "<")) {
            for (end = from + 1;
                 end < f->end && (f->t[end].is_word || type_hint_is(&f->t[end], "::")); end++)
                ;
            if (end < f->end && (type_hint_is(&f->t[end], ">") || type_hint_is(&f->t[end], ",")))
                type_hint_add(f, HINT_NEW, from + 1, end);
        }
    }
}

static void
find_cast(struct finder *f)
{
    size_t close = f->call;
    size_t open;

    if (close < f->first + 4 || !type_hint_is(&f->t[close - 1], ")"))
        return;
    close--;
    for (open = close; open > f->first && !type_hint_is(&f->t[open], "("); open--)
        ;
    if (type_hint_is(&f->t[close - 1], "*") && f->t[open + 1].is_word)
        type_hint_add(f, HINT_CAST, open + 1, close - 1);
}

/* Words before a parenthesis that are not calls. */
static const char *const statements[] = {"if", "while",  "for", "switch", "return",
                                         "do", "sizeof", "new", NULL};

/* Find the text before the last "=" in front of the call, outside of other calls' parentheses. */
static void
find_target(struct finder *f)
{
    size_t equals = f->call;
    size_t depth = 0;
    size_t first;

    while (equals > f->first) {
        const struct hint_token *t = &f->t[--equals];

        if (type_hint_is(t, "=") && depth == 0)
            break;
        depth += type_hint_is(t, ")");
        if (!type_hint_is(t, "("))
            continue;
        if (depth > 0)
            depth--;
        else if (equals > f->first && t[-1].is_word && !is_any(&t[-1], statements))
            return; // If a value is assigned, this call only derives it from the block.
    }
    if (equals == f->first || !type_hint_is(&f->t[equals], "="))
        return;
    for (first = equals; first > f->first; first--) {
        const struct hint_token *t = &f->t[first - 1];

        if (type_hint_is(t, "]")) {
            while (first > f->first + 1 && !type_hint_is(&f->t[first - 1], "["))
                first--;
        } else if (!t->is_word && !type_hint_is(t, "->") && !type_hint_is(t, ".") &&
                   !type_hint_is(t, "::") && !type_hint_is(t, "*")) {
            break;
        }
    }
    type_hint_add(f, HINT_TARGET, first, equals);
}

/* Find arguments of the call that consist of words, perhaps with stars. */
static void
find_names(struct finder *f)
{
    size_t end = f->call + 1 < f->end && type_hint_is(&f->t[f->call + 1], "(")
                     ? after_parenthesis(f, f->call + 1)
                     : f->call;
    size_t first = f->call + 2;

    for (size_t i = first; i < end; i++) {
        if (type_hint_is(&f->t[i], ",") || i + 1 == end) {
            type_hint_add(f, HINT_NAME, first, i);
            first = i + 1;
        } else if (!f->t[i].is_word && !type_hint_is(&f->t[i], "*") &&
                   !type_hint_is(&f->t[i], "::")) {
            while (i + 1 < end && !type_hint_is(&f->t[i + 1], ","))
                i++;
            first = i + 2;
        }
    }
}

/* Return the index of the callee's name. */
static size_t
type_hint_find_call(const struct finder *f, const char *callee)
{
    for (size_t i = f->first; callee != NULL && i < f->end; i++)
        if (type_hint_is(&f->t[i], callee))
            return i;
    for (size_t i = f->first; i < f->end; i++)
        if (is_any(&f->t[i], allocators))
            return i;
    // A macro is called: take the first word before a parenthesis, after "=" if there is one.
    for (size_t i = f->end; i-- > f->first + 1;)
        if (type_hint_is(&f->t[i], "=") && i + 2 < f->end && f->t[i + 1].is_word &&
            type_hint_is(&f->t[i + 2], "("))
            return i + 1;
    for (size_t i = f->first; i + 1 < f->end; i++)
        if (f->t[i].is_word && type_hint_is(&f->t[i + 1], "(") && !is_any(&f->t[i], statements))
            return i;
    return f->end;
}

size_t
type_hints(const char *source, size_t size_bytes, uint32_t line, const char *callee,
           struct arena *arena, struct type_hint hints[HINTS_MAX])
{
    const char *end = source + size_bytes;
    const char *at = source;
    const char *from = line > 0 ? type_hint_find_line(source, end, line, &at) : NULL;
    struct statement st = {.tokens = arena_array(arena, TOKENS_MAX + 1, sizeof *st.tokens)};
    struct finder f = {.t = st.tokens, .hints = hints};

    if (from == NULL)
        return 0;
    read_statement(&st, from, at, end, callee);
    f.first = st.first;
    f.end = st.end;
    f.call = type_hint_find_call(&f, callee);
    find_new(&f);
    if (f.call < f.end) {
        find_cast(&f);
        find_target(&f);
    }
    find_sizeofs(&f);
    if (f.call < f.end)
        find_names(&f);
    return f.count;
}
