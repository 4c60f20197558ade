/* fold.c: allocation wrappers among the functions of a profile.
 *
 * A stack that ends in `operator new` or `xmalloc` does not identify its allocation site. Folding
 * drops the innermost frames whose names the table in wrapper/wrapper_name.c lists, and charges the
 * next frame.
 *
 * C++ names are compared without template arguments, parameters and return type, so that one entry
 * covers all instances. fold_plain_name removes them by matching brackets. Brackets behind a dot,
 * as in Python's "f.<locals>.g", are part of the name. */
#include "analyse/fold.h"

#include <ctype.h>
#include <string.h>

#include "wrapper/wrapper_name.h"

/* Return the end of the bracketed text that opens at S, or the end of S if it is not closed. */
static const char *
skip_brackets(const char *s, char opener, char closer)
{
    int depth = 0;

    for (; *s != '\0'; s++) {
        if (*s == opener)
            depth++;
        else if (*s == closer && s[-1] != '-' && --depth == 0)
            return s + 1;
    }
    return s;
}

static bool
is_identifier(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Return the length of "operator" and its symbol at S; 0 if S is none. Prevents reading the
 * symbol's brackets as template or parameter brackets. START is the beginning of the whole name. */
static size_t
fold_operator_length(const char *s, const char *start)
{
    static const char *const symbols[] = {"()", "<<=", ">>=", "<=>", "->*", "<<",
                                          ">>", "->",  "<=",  ">=",  "<",   ">"};

    if (*s != 'o' || strncmp(s, "operator", 8) != 0 || (s > start && is_identifier(s[-1])))
        return 0;
    for (size_t i = 0; i < countof(symbols); i++)
        if (strncmp(s + 8, symbols[i], strlen(symbols[i])) == 0)
            return 8 + strlen(symbols[i]);
    if (s[8] == ' ')
        return 9; // operator new, operator delete: the blank is part of the name.
    return is_identifier(s[8]) ? 0 : 8;
}

/* Return the length of the text at S that is part of a name in spite of its brackets or blanks: an
 * operator, "{lambda(int)#1}", "(anonymous namespace)"; or 0. START is the beginning of the whole
 * name. */
static size_t
kept_length(const char *s, const char *start)
{
    static const char anonymous[] = "(anonymous namespace)";

    if (*s == '{')
        return (size_t)(skip_brackets(s, '{', '}') - s);
    if (strncmp(s, anonymous, sizeof anonymous - 1) == 0)
        return sizeof anonymous - 1;
    return fold_operator_length(s, start);
}

/* Return the end of the qualifiers of a member function at S, such as " const &". */
static const char *
skip_qualifiers(const char *s)
{
    static const char *const qualifiers[] = {" const", " volatile", " noexcept", " &&", " &"};

    for (size_t i = 0; i < countof(qualifiers);) {
        size_t length = strlen(qualifiers[i]);

        if (strncmp(s, qualifiers[i], length) == 0 && strchr(" :", s[length]) != NULL) {
            s += length;
            i = 0;
        } else {
            i++;
        }
    }
    return s;
}

void
fold_plain_name(const char *function, char ret[FOLD_NAME_MAX])
{
    const char *s = function;
    size_t length = 0;
    bool is_rust_impl = *s == '<';

    while (*s != '\0' && length + 1 < FOLD_NAME_MAX) {
        size_t kept_bytes = kept_length(s, function);

        if (kept_bytes > 0) {
            for (; kept_bytes > 0 && length + 1 < FOLD_NAME_MAX; kept_bytes--)
                ret[length++] = *s++;
        } else if (*s == '<' && !is_rust_impl && (s == function || s[-1] != '.')) {
            s = skip_brackets(s, '<', '>');
        } else if (*s == '(') {
            const char *end = skip_qualifiers(skip_brackets(s, '(', ')'));

            // "::" follows the parameters of an enclosing function, as in "f(int)::local::g()" and
            // "C::f() const::{lambda()#1}".
            if (strncmp(end, "::", 2) != 0)
                break;
            s = end;
        } else if (*s == ' ' && !is_rust_impl) {
            if (s[1] != '<')
                length = 0; // The text before was the return type, unlike "operator<< <char>".
            s++;
        } else {
            ret[length++] = *s++;
        }
    }
    ret[length] = '\0';
}

size_t
fold_alias_length(const char *function)
{
    return strncmp(function, "__GI_", 5) == 0 ? 5 : 0;
}

bool
fold_is_wrapper(const char *function)
{
    char name[FOLD_NAME_MAX];

    fold_plain_name(function + fold_alias_length(function), name);
    return wrapper_name_is(name);
}
