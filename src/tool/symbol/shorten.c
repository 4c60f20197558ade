/* shorten.c: function names for people and narrow columns.
 *
 * There are four steps, the last three only as far as the width requires:
 *
 *     clean     removes inline namespaces and suffixes, and template arguments if they are the
 *               default for the element; uses short names such as std::string and std::mt19937
 *     collapse  removes the return type of a template, then replaces parameter lists, then template
 *               arguments by "(…)" and "<…>", each kind from the deepest outwards
 *     lambda    removes parameters and leading scopes around a lambda, so that its number fits
 *     cut       ends the name with "…"
 *
 *     std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > f<A<B> >(int)
 *     std::string f<A<B>>(int)                              clean
 *     f<A<B>>(int)    f<A<B>>(…)    f<A<…>>(…)    f<…>(…)    narrower
 *     f<…                                                   narrower still
 *
 *     a::f(int)::{lambda(int)#2}::operator()(int) const
 *     a::f::{lambda(…)#2}::operator()    …::{lambda(…)#2}::operator()    {lambda#2}…
 *
 * One scan pairs brackets. It excludes characters in operator names, "(anonymous namespace)",
 * arrows, Python's "<lambda>", and comparisons inside parentheses. Unpaired characters are text.
 *
 * Names may have any bytes: invalid UTF-8 and control characters become '?'. */
#include "symbol/demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/amount.h"
#include "util/strbuf.h"

#define ANONYMOUS "(anonymous namespace)"
#define MERSENNE "std::mersenne_twister_engine"

// Maximum nesting of brackets; deeper ones are text. Also limits the recursion of clean().
enum { NESTING_MAX = 256 };

struct pair {
    size_t open, close; // Positions of the brackets.
    size_t width;       // Columns between them, after collapsing so far.
    uint32_t depth;
    uint32_t parent;    // Index + 1 of the enclosing pair; 0 = none.
    char kind;          // '(', '<' or '{'.
    bool collapsed;
};

struct text {
    struct arena *arena;
    const char *s;
    size_t length;
    struct pair *pairs;
    size_t pair_count, pair_capacity;
    uint32_t *pair_at; // By position of an opening bracket: index of the pair + 1; otherwise 0.
};

static void normalise(const char *s, struct strbuf *out);
static void shorten_parse(struct text *t, const char *s, size_t length, struct arena *arena);
static void clean(const struct text *t, size_t begin, size_t end, struct strbuf *out);
static void collapse(struct text *t, size_t width, const char *ellipsis, struct strbuf *out);
static void keep_lambda(const struct text *t, size_t width, const char *ellipsis,
                        struct strbuf *out);
static const char *shorten_cut(struct arena *arena, const char *s, size_t width,
                               const char *ellipsis);

/* Return the number of columns of the LENGTH bytes at S, valid UTF-8. */
static size_t
columns(const char *s, size_t length)
{
    size_t count = 0;

    for (size_t i = 0, bytes; i < length; i += bytes) {
        uint32_t c = 0;

        bytes = character_bytes(s + i, &c);
        bytes = bytes != 0 ? bytes : 1;
        count += character_columns(c);
    }
    return count;
}

const char *
symbol_shorten(struct arena *arena, const char *function, size_t width)
{
    return symbol_shorten_by(arena, function, width, ascii_is_wanted() ? "..." : SYMBOL_ELLIPSIS);
}

const char *
symbol_shorten_by(struct arena *arena, const char *function, size_t width, const char *ellipsis)
{
    struct arena scratch = {0};
    struct strbuf normal = {0};
    struct strbuf cleaned = {0};
    struct strbuf collapsed = {0};
    struct strbuf kept = {0};
    struct text t;
    const char *result;

    normalise(function, &normal);
    shorten_parse(&t, strbuf_text(&normal), normal.length, &scratch);
    clean(&t, 0, t.length, &cleaned);
    if (columns(strbuf_text(&cleaned), cleaned.length) <= width) {
        result = arena_strdup(arena, strbuf_text(&cleaned));
    } else {
        shorten_parse(&t, strbuf_text(&cleaned), cleaned.length, &scratch);
        collapse(&t, width, ellipsis, &collapsed);
        if (columns(strbuf_text(&collapsed), collapsed.length) > width) {
            shorten_parse(&t, strbuf_text(&collapsed), collapsed.length, &scratch);
            keep_lambda(&t, width, ellipsis, &kept);
        }
        result = shorten_cut(arena, strbuf_text(kept.length > 0 ? &kept : &collapsed), width,
                             ellipsis);
    }
    strbuf_release(&kept);
    strbuf_release(&normal);
    strbuf_release(&cleaned);
    strbuf_release(&collapsed);
    arena_release(&scratch);
    return result;
}

static bool
shorten_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool
starts_with(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* Return true if the LENGTH bytes at S end with the whole qualified name SUFFIX. */
static bool
ends_with_name(const char *s, size_t length, const char *suffix)
{
    size_t n = strlen(suffix);

    if (length < n || memcmp(s + length - n, suffix, n) != 0)
        return false;
    return length == n || (!shorten_is_word(s[length - n - 1]) && s[length - n - 1] != ':');
}

/* Return the length of the valid UTF-8 sequence at S; 0 if it is invalid or a control character. */
static size_t
sequence_length(const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    size_t length;

    if (p[0] < 0x80)
        return p[0] >= 0x20 && p[0] != 0x7f;
    length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    // Reject overlong forms, surrogates, values above U+10FFFF, and the C1 controls.
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0)
        || (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90)
        || (p[0] == 0xc2 && p[1] < 0xa0))
        return 0;
    return length;
}

/* Return the length of an inline namespace of a standard library ("__1::") at S, or 0; "__debug::"
 * holds its checked containers. BEFORE is the text before it. */
static size_t
inline_namespace(const char *s, const struct strbuf *before)
{
    static const char *const names[] = {
        "__cxx11::", "__1::", "__ndk1::", "__Cr::", "__8::", "__debug::", "__cxx1998::",
    };

    if (before->length < 5 || s[0] != '_' || s[1] != '_')
        return 0;
    for (size_t i = 0; i < countof(names); i++) {
        if (!starts_with(s, names[i]))
            continue;
        if (ends_with_name(before->text, before->length, "std::")
            || (i == 0 && memcmp(before->text + before->length - 2, "::", 2) == 0))
            return strlen(names[i]);
    }
    return 0;
}

/* Return the length of the compiler's remark at S (" [clone .cold]", "[abi:cxx11]"), or 0. A remark
 * contains no bracket, so that unclosed ones cost no more than their length. */
static size_t
remark(const char *s)
{
    size_t length;

    if (!starts_with(s, " [clone ") && !starts_with(s, "[abi:"))
        return 0;
    length = 2 + strcspn(s + 2, "[]");
    return s[length] == ']' ? length + 1 : 0;
}

/* Return the length of the hash of Rust's older mangling at S, or 0: "::h" and 16 hexadecimal
 * digits at the end of the name. */
static size_t
rust_hash(const char *s)
{
    const size_t length = 3 + 16;

    if (!starts_with(s, "::h") || strspn(s + 3, "0123456789abcdef") != 16)
        return 0;
    return s[length] == '\0' || s[length] == ' ' || s[length] == '.' ? length : 0;
}

static void
normalise(const char *s, struct strbuf *out)
{
    while (*s != '\0') {
        size_t skip = *s == '_' ? inline_namespace(s, out) : 0;
        size_t length;

        if (*s == ' ' || *s == '[')
            skip = remark(s);
        else if (*s == ':' && out->length > 0)
            skip = rust_hash(s);
        if (skip > 0) {
            s += skip;
            continue;
        }
        length = sequence_length(s);
        strbuf_add(out, length > 0 ? s : "?", length > 0 ? length : 1);
        s += length > 0 ? length : 1;
    }
}

/* Return the length of the operator's name at S, or 0: the word "operator" and the characters after
 * it, which are not brackets. */
static size_t
shorten_operator_length(const char *s)
{
    static const char *const signs[] = {
        "()", "[]", "<=>", "->*", "<<=", ">>=", "<<", ">>", "<=", ">=", "->", "<", ">",
    };
    const size_t word = strlen("operator");

    if (!starts_with(s, "operator") || shorten_is_word(s[word]))
        return 0;
    for (size_t i = 0; i < countof(signs); i++)
        if (starts_with(s + word, signs[i]))
            return word + strlen(signs[i]);
    return word;
}

/* Return the length of a part of a Python function's name at S whose brackets are no arguments, or
 * 0: "<module>", "main.<locals>.<lambda>", "(import numpy)". I is its position in the name. */
static size_t
python_part(const char *s, size_t i)
{
    size_t length = 1;

    if (starts_with(s, "(import ") || starts_with(s, "(no Python frame)")) {
        length = strcspn(s, ")");
        return length + (s[length] == ')');
    }
    if (*s != '<' || (i > 0 && s[-1] != '.'))
        return 0;
    while (shorten_is_word(s[length]))
        length++;
    if (length == 1 || s[length] != '>' || strchr(". ", s[length + 1]) == NULL)
        return 0;
    return length + 1;
}

/* Return the length of text without brackets at T's position I, or 0. */
static size_t
plain_length(const struct text *t, size_t i)
{
    const char *s = t->s + i;

    if (*s == '(' && starts_with(s, ANONYMOUS))
        return strlen(ANONYMOUS);
    if (*s == '-' && s[1] == '>')
        return 2;
    if (*s == 'o' && (i == 0 || !shorten_is_word(s[-1])))
        return shorten_operator_length(s);
    return python_part(s, i);
}

struct bracket_stack {
    uint32_t pair[NESTING_MAX]; // Index + 1.
    size_t count;
    size_t too_deep;            // Number of open brackets beyond the limit.
};

static void
shorten_push(struct text *t, struct bracket_stack *stack, size_t position, size_t *capacity)
{
    if (stack->count == NESTING_MAX) {
        stack->too_deep++;
        return;
    }
    arena_grow(t->arena, &t->pairs, capacity, t->pair_count, sizeof *t->pairs);
    t->pairs[t->pair_count++] = (struct pair){
        .open = position,
        .depth = (uint32_t)stack->count,
        .parent = stack->count > 0 ? stack->pair[stack->count - 1] : 0,
        .kind = t->s[position],
    };
    stack->pair[stack->count++] = (uint32_t)t->pair_count;
}

/* Close the innermost bracket of KIND at POSITION. Open angle brackets inside it were comparisons.
 * An angle bracket only closes the innermost bracket. */
static void
shorten_pop(struct text *t, struct bracket_stack *stack, char kind, size_t position)
{
    size_t i = stack->count;

    if (stack->too_deep > 0) {
        stack->too_deep--;
        return;
    }
    while (i > 0 && t->pairs[stack->pair[i - 1] - 1].kind == '<' && kind != '<')
        i--;
    if (i == 0 || t->pairs[stack->pair[i - 1] - 1].kind != kind)
        return;
    t->pairs[stack->pair[i - 1] - 1].close = position;
    stack->count = i - 1;
}

/* Remove the brackets that were never closed. */
static void
keep_closed(struct text *t)
{
    for (size_t i = 0; i < t->pair_count; i++) {
        struct pair *p = &t->pairs[i];

        while (p->parent != 0 && t->pairs[p->parent - 1].close == 0)
            p->parent = t->pairs[p->parent - 1].parent;
        p->depth = p->parent != 0 ? t->pairs[p->parent - 1].depth + 1 : 0;
        if (p->close == 0)
            continue;
        t->pair_at[p->open] = (uint32_t)i + 1;
        p->width = columns(t->s + p->open + 1, p->close - p->open - 1);
    }
}

static void
shorten_parse(struct text *t, const char *s, size_t length, struct arena *arena)
{
    struct bracket_stack stack = {0};
    size_t capacity = 0;
    size_t plain;

    *t = (struct text){ .arena = arena, .s = s, .length = length };
    t->pair_at = arena_array(arena, length + 1, sizeof *t->pair_at);
    for (size_t i = 0; i < length; i += plain > 0 ? plain : 1) {
        plain = plain_length(t, i);
        if (plain > 0)
            continue;
        if (s[i] == '(' || s[i] == '<' || s[i] == '{')
            shorten_push(t, &stack, i, &capacity);
        else if (s[i] == ')')
            shorten_pop(t, &stack, '(', i);
        else if (s[i] == '>')
            shorten_pop(t, &stack, '<', i);
        else if (s[i] == '}')
            shorten_pop(t, &stack, '{', i);
    }
    keep_closed(t);
}

/* Return the position after the pair that opens at I; I + 1 if none does. */
static size_t
step_over(const struct text *t, size_t i)
{
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): an entry that is not 0 has a pair.
    return t->pair_at[i] != 0 ? t->pairs[t->pair_at[i] - 1].close + 1 : i + 1;
}

/* A template argument without surrounding blanks: [begin, end). */
struct argument {
    size_t begin, end;
};

/* Return T's text [BEGIN, END) without the blanks around it. */
static struct argument
trimmed(const struct text *t, size_t begin, size_t end)
{
    while (begin < end && t->s[begin] == ' ')
        begin++;
    while (end > begin && t->s[end - 1] == ' ')
        end--;
    return (struct argument){begin, end};
}

/* Return true if A has the LENGTH bytes at NAME at *POSITION, blanks aside. *POSITION is then
 * behind them. */
static bool
passes(const struct text *t, struct argument a, size_t *position, const char *name, size_t length)
{
    size_t i = *position;

    for (size_t k = 0; k < length; k++) {
        if (name[k] == ' ')
            continue;
        while (i < a.end && t->s[i] == ' ')
            i++;
        if (i == a.end || t->s[i++] != name[k])
            return false;
    }
    *position = i;
    return true;
}

static bool
is_same_argument(const struct text *t, struct argument a, struct argument b)
{
    size_t i = a.begin;

    return passes(t, a, &i, t->s + b.begin, b.end - b.begin) && i == a.end;
}

/* Return true if A is the element of a map from KEY to VALUE: "std::pair<KEY const, VALUE>". */
static bool
is_map_element(const struct text *t, struct argument a, struct argument key, struct argument value)
{
    const char *k = t->s + key.begin, *v = t->s + value.begin;
    const size_t key_length = key.end - key.begin, value_length = value.end - value.begin;
    size_t i = a.begin, constant;

    if (!passes(t, a, &i, "std::pair<", strlen("std::pair<")))
        return false;
    constant = i;
    if (passes(t, a, &constant, "const ", strlen("const ")) &&
        passes(t, a, &constant, k, key_length) && passes(t, a, &constant, ",", 1))
        i = constant;
    else if (!passes(t, a, &i, k, key_length) || !passes(t, a, &i, "const,", strlen("const,")))
        return false;
    return passes(t, a, &i, v, value_length) && passes(t, a, &i, ">", 1) && i == a.end;
}

/* Return true if A is the argument that the standard library supplies by default to the template
 * that P opens, whose first arguments are FIRST and SECOND. */
static bool
is_default_argument(const struct text *t, const struct pair *p, struct argument a,
                    struct argument first, struct argument second)
{
    static const char *const names[] = {
        "std::allocator<", "std::char_traits<", "std::less<", "std::hash<", "std::equal_to<",
        "std::default_delete<",
    };
    static const char rust_allocator[] = "alloc::alloc::Global";

    for (size_t i = 0; i < countof(names); i++) {
        size_t open = a.begin + strlen(names[i]) - 1;
        struct argument of;

        if (!starts_with(t->s + a.begin, names[i]))
            continue;
        if (t->pair_at[open] == 0 || step_over(t, open) != a.end)
            return false;
        of = trimmed(t, open + 1, a.end - 1);
        if (is_same_argument(t, of, first))
            return true;
        return i == 0 && (is_map_element(t, of, first, second) ||
                          (ends_with_name(t->s, p->open, "std::_Rb_tree") &&
                           is_same_argument(t, of, second)));
    }
    return a.end - a.begin == strlen(rust_allocator) && starts_with(t->s + a.begin, rust_allocator);
}

/* Return true if all arguments of the template whose name ends at END are significant. */
static bool
means_all_arguments(const struct text *t, size_t end)
{
    static const char *const names[] = { "std::pair", "std::tuple", "std::variant" };

    for (size_t i = 0; i < countof(names); i++)
        if (ends_with_name(t->s, end, names[i]))
            return true;
    return false;
}

/* Return the end of P's template arguments without trailing defaults. */
static size_t
arguments_end(const struct text *t, const struct pair *p)
{
    size_t begin = p->open + 1; // Start of the current argument.
    size_t kept = p->close;     // End of the last argument that is not a default.
    size_t count = 0;
    struct argument first[2] = {{0, 0}, {0, 0}};

    if (means_all_arguments(t, p->open))
        return p->close;
    for (size_t i = begin; i <= p->close; i = i < p->close ? step_over(t, i) : i + 1) {
        struct argument a;

        if (i < p->close && t->s[i] != ',')
            continue;
        a = trimmed(t, begin, i);
        if (count == 0 || !is_default_argument(t, p, a, first[0], first[1]))
            kept = i;
        if (count < countof(first))
            first[count++] = a;
        begin = i + 1;
    }
    return kept;
}

/* Return true if the arguments of P after the first, which is a type, are NUMBERS with any suffix
 * ("32ul, 624ul"). */
static bool
has_numbers(const struct text *t, const struct pair *p, const char *numbers)
{
    const char *s = memchr(t->s + p->open, ',', p->close - p->open);

    if (s == NULL)
        return false;
    for (s++; *numbers != '\0'; numbers += *numbers == ',') {
        size_t digits = strcspn(numbers, ",");

        s += strspn(s, " ");
        if (strncmp(s, numbers, digits) != 0)
            return false;
        s += digits;
        s += strspn(s, "uUlL");
        numbers += digits;
        if (*s != (*numbers == ',' ? ',' : '>'))
            return false;
        s++;
    }
    return s == t->s + p->close + 1;
}

/* Return the short name of the template that P opens if it is a class that is known by its whole
 * list of arguments, otherwise NULL. */
static const char *
known_by_arguments(const struct text *t, const struct pair *p)
{
    static const struct {
        const char *numbers, *name;
    } engines[] = {
        {"32,624,397,31,2567483615,11,4294967295,7,2636928640,15,4022730752,18,1812433253",
         "std::mt19937"},
        {"64,312,156,31,13043109905998158313,29,6148914691236517205,17,8202884508482404352,37,"
         "18444473444759240704,43,6364136223846793005",
         "std::mt19937_64"},
    };

    if (!ends_with_name(t->s, p->open, MERSENNE))
        return NULL;
    for (size_t i = 0; i < countof(engines); i++)
        if (has_numbers(t, p, engines[i].numbers))
            return engines[i].name;
    return NULL;
}

/* Replace a string or stream class at the end of OUT, whose arguments begin at OPEN, by its short
 * name. */
static void
use_short_class(struct strbuf *out, size_t open)
{
    static const struct {
        const char *type, *prefix;
    } characters[] = {
        {"char", ""}, {"wchar_t", "w"}, {"char8_t", "u8"}, {"char16_t", "u16"}, {"char32_t", "u32"},
    };
    enum { STRINGS = 2, STREAM_CHARACTERS = 2 }; // Streams have short names for two characters.
    static const char *const classes[] = {
        "std::basic_string", "std::basic_string_view", "std::basic_ios", "std::basic_istream",
        "std::basic_ostream", "std::basic_iostream", "std::basic_stringstream",
        "std::basic_istringstream", "std::basic_ostringstream", "std::basic_fstream",
        "std::basic_ifstream", "std::basic_ofstream", "std::basic_streambuf",
        "std::basic_stringbuf", "std::basic_filebuf",
    };
    const size_t length = out->length - open - strlen("<>");

    for (size_t i = 0; i < countof(characters); i++) {
        size_t count = i < STREAM_CHARACTERS ? countof(classes) : STRINGS;

        if (strlen(characters[i].type) != length ||
            memcmp(out->text + open + 1, characters[i].type, length) != 0)
            continue;
        for (size_t k = 0; k < count; k++) {
            if (!ends_with_name(out->text, open, classes[k]))
                continue;
            strbuf_cut(out, open - strlen(classes[k]));
            strbuf_str(out, "std::");
            strbuf_str(out, characters[i].prefix);
            strbuf_str(out, classes[k] + strlen("std::basic_"));
            return;
        }
    }
}

static void
// NOLINTNEXTLINE(misc-no-recursion): pairs nest NESTING_MAX deep.
clean_template(const struct text *t, const struct pair *p, struct strbuf *out)
{
    size_t end = arguments_end(t, p);
    const char *known = known_by_arguments(t, p);
    const size_t open = out->length;
    bool spaced = false;

    if (known != NULL) {
        strbuf_cut(out, out->length - strlen(MERSENNE));
        strbuf_str(out, known);
        return;
    }
    while (end > p->open + 1 && t->s[end - 1] == ' ') {
        end--;
        spaced = true;
    }
    strbuf_char(out, '<');
    clean(t, p->open + 1, end, out);
    // "A<B> >" needs no blank, but "A<&operator> >" does.
    if (spaced && end >= 9 && memcmp(t->s + end - 9, "operator>", 9) == 0)
        strbuf_char(out, ' ');
    strbuf_char(out, '>');
    use_short_class(out, open);
}

static void
// NOLINTNEXTLINE(misc-no-recursion): pairs nest NESTING_MAX deep.
clean(const struct text *t, size_t begin, size_t end, struct strbuf *out)
{
    for (size_t i = begin; i < end;) {
        const struct pair *p = t->pair_at[i] != 0 ? &t->pairs[t->pair_at[i] - 1] : NULL;

        if (p == NULL || p->close >= end) {
            strbuf_char(out, t->s[i++]);
            continue;
        }
        if (p->kind == '<') {
            clean_template(t, p, out);
        } else {
            strbuf_char(out, t->s[p->open]);
            clean(t, p->open + 1, p->close, out);
            strbuf_char(out, t->s[p->close]);
        }
        i = p->close + 1;
    }
}

/* Return the first outer parameter list if it belongs to a template function, otherwise NULL. */
static const struct pair *
template_parameters(const struct text *t)
{
    for (size_t i = 0; i < t->length; i = step_over(t, i)) {
        const struct pair *p = t->pair_at[i] != 0 ? &t->pairs[t->pair_at[i] - 1] : NULL;

        if (p != NULL && p->kind == '(')
            return i > 0 && t->s[i - 1] == '>' ? p : NULL;
    }
    return NULL;
}

/* Return the start of the function's name. Demanglers put a return type in front only for
 * templates. */
static size_t
name_start(const struct text *t)
{
    const struct pair *parameters = template_parameters(t);
    size_t start = 0;

    if (parameters == NULL)
        return 0;
    for (size_t i = 0; i < parameters->open; i = step_over(t, i)) {
        size_t plain = plain_length(t, i);

        if (plain > 0 && t->s[i] == 'o')
            break;
        if (plain > 0)
            i += plain - 1;
        else if (t->s[i] == ' ' &&
                 (t->s[i + 1] != '(' || starts_with(t->s + i + 1, ANONYMOUS)))
            start = i + 1;
    }
    // "non-virtual thunk to f" has no return type.
    if (start >= 4 && (memcmp(t->s + start - 4, " to ", 4) == 0
                       || (start >= 5 && memcmp(t->s + start - 5, " for ", 5) == 0)))
        return 0;
    return start;
}

const char *
symbol_without_result(struct arena *arena, const char *function)
{
    struct arena scratch = {0};
    struct text t;
    const char *name;

    shorten_parse(&t, function, strlen(function), &scratch);
    name = arena_strdup(arena, function + name_start(&t));
    arena_release(&scratch);
    return name;
}

static int
compare_pairs(const void *left, const void *right, void *arg)
{
    const struct text *t = arg;
    const struct pair *a = &t->pairs[*(const uint32_t *)left];
    const struct pair *b = &t->pairs[*(const uint32_t *)right];

    if (a->kind != b->kind)
        return a->kind == '(' ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth > b->depth ? -1 : 1;
    if (a->width != b->width)
        return a->width > b->width ? -1 : 1;
    return a->open > b->open ? -1 : a->open < b->open;
}

/* Return true if P may be collapsed. A template list may (but not Python's "f.<locals>");
 * parentheses may, except casts and expressions among template arguments. */
static bool
is_list(const struct text *t, const struct pair *p)
{
    size_t before = p->open;

    if (p->kind == '<')
        return before == 0 || t->s[before - 1] != '.';
    if (p->kind != '(' || shorten_is_word(t->s[p->close + 1]))
        return false;
    while (before > 0 && t->s[before - 1] == ' ')
        before--;
    return before > 0 && t->s[before - 1] != ',' && t->pair_at[before - 1] == 0;
}

/* Return the pairs that may be collapsed, in the order of collapsing. */
static uint32_t *
candidates(struct text *t, size_t start, size_t *ret_count)
{
    uint32_t *order = arena_array(t->arena, t->pair_count, sizeof *order);
    size_t count = 0;

    for (size_t i = 0; i < t->pair_count; i++) {
        const struct pair *p = &t->pairs[i];

        if (p->close != 0 && p->open >= start && p->width > 1 && is_list(t, p))
            order[count++] = (uint32_t)i;
    }
    if (count > 1)
        qsort_r(order, count, sizeof *order, compare_pairs, t);
    *ret_count = count;
    return order;
}

static bool
is_hidden(const struct text *t, const struct pair *p)
{
    for (uint32_t up = p->parent; up != 0; up = t->pairs[up - 1].parent)
        if (t->pairs[up - 1].collapsed)
            return true;
    return false;
}

/* Collapse P to DOTS columns. Return the number of columns saved. */
static size_t
collapse_pair(struct text *t, struct pair *p, size_t dots)
{
    size_t won;

    if (p->width <= dots || is_hidden(t, p))
        return 0;
    won = p->width - dots;
    p->collapsed = true;
    for (uint32_t up = p->parent; up != 0; up = t->pairs[up - 1].parent)
        t->pairs[up - 1].width -= won;
    return won;
}

static void
collapse(struct text *t, size_t width, const char *ellipsis, struct strbuf *out)
{
    size_t dots = columns(ellipsis, strlen(ellipsis));
    size_t start = name_start(t);
    size_t shown = columns(t->s + start, t->length - start);
    size_t count;
    uint32_t *order = candidates(t, start, &count);

    for (size_t i = 0; i < count && shown > width; i++)
        shown -= collapse_pair(t, &t->pairs[order[i]], dots);
    for (size_t i = start; i < t->length;) {
        const struct pair *p = t->pair_at[i] != 0 ? &t->pairs[t->pair_at[i] - 1] : NULL;

        strbuf_char(out, t->s[i++]);
        if (p != NULL && p->collapsed) {
            strbuf_str(out, ellipsis);
            i = p->close;
        }
    }
}

/* Return the last outer pair of braces of T, which has the number of a lambda; NULL if there is
 * none. */
static const struct pair *
last_braces(const struct text *t)
{
    const struct pair *found = NULL;

    for (size_t i = 0; i < t->length; i = step_over(t, i)) {
        const struct pair *p = t->pair_at[i] != 0 ? &t->pairs[t->pair_at[i] - 1] : NULL;

        if (p != NULL && p->kind == '{' && (i == 0 || t->s[i - 1] == ':'))
            found = p;
    }
    return found;
}

static bool
opens_list(const struct text *t, size_t i)
{
    return t->pair_at[i] != 0 && t->s[i] == '(';
}

/* Append the scopes of T before END, without their parameter lists and the qualifiers after these:
 * "a::f(int) const::" as "a::f::". */
static void
add_scopes(const struct text *t, size_t end, struct strbuf *out)
{
    for (size_t i = 0, next; i < end; i = next) {
        next = step_over(t, i);
        if (!opens_list(t, i)) {
            strbuf_add(out, t->s + i, next - i);
            continue;
        }
        while (next < end && !starts_with(t->s + next, "::"))
            next = step_over(t, next);
    }
}

/* Append TEXT, which is too wide, without as many of its first scopes as necessary. END is the end
 * of the scopes. Return false if it is too wide even without all scopes. */
static bool
drop_scopes(const struct text *t, size_t end, size_t width, const char *ellipsis,
            struct strbuf *out)
{
    const size_t mark = columns(ellipsis, strlen(ellipsis)) + strlen("::");
    size_t left = columns(t->s, t->length);

    for (size_t i = 0, next, start = 0; i < end; i = next) {
        next = step_over(t, i);
        if (!starts_with(t->s + i, "::"))
            continue;
        next = i + strlen("::");
        left -= columns(t->s + start, next - start);
        start = next;
        if (left + mark > width && (next < end || left > width))
            continue;
        if (left + mark <= width) {
            strbuf_str(out, ellipsis);
            strbuf_str(out, "::");
        }
        strbuf_str(out, t->s + start);
        return true;
    }
    return false;
}

/* Append T's name in a form that shows the number of the last lambda in WIDTH columns if possible:
 * remove first the parameters of the call, then the parameters of enclosing functions, leading
 * scopes, and the lambda's parameters. A name without lambdas is appended as it is. */
static void
keep_lambda(const struct text *t, size_t width, const char *ellipsis, struct strbuf *out)
{
    const struct pair *braces = last_braces(t);
    struct strbuf whole = {0};
    struct text shorter;
    size_t end, scopes;

    for (end = braces ? braces->close : t->length; end < t->length && !opens_list(t, end);)
        end = step_over(t, end);
    strbuf_add(out, t->s, end);
    if (braces == NULL || columns(out->text, out->length) <= width)
        return;
    strbuf_clear(out);
    add_scopes(t, braces->open, out);
    scopes = out->length;
    strbuf_add(out, t->s + braces->open, end - braces->open);
    if (columns(out->text, out->length) <= width)
        return;
    strbuf_add(&whole, out->text, out->length);
    strbuf_clear(out);
    shorten_parse(&shorter, strbuf_text(&whole), whole.length, t->arena);
    if (!drop_scopes(&shorter, scopes, width, ellipsis, out)) {
        size_t i = scopes + 1, close = scopes + braces->close - braces->open;

        while (i < close && !opens_list(&shorter, i))
            i = step_over(&shorter, i);
        strbuf_add(out, whole.text + scopes, i - scopes);
        strbuf_str(out, whole.text + (i < close ? step_over(&shorter, i) : i));
    }
    strbuf_release(&whole);
}

/* Return S in at most WIDTH columns. */
static const char *
shorten_cut(struct arena *arena, const char *s, size_t width, const char *ellipsis)
{
    size_t end = 0, bytes;
    size_t dots = columns(ellipsis, strlen(ellipsis));
    size_t left = width > dots ? width - dots : 0;

    if (columns(s, strlen(s)) <= width)
        return arena_strdup(arena, s);
    if (width < dots)
        return arena_strndup(arena, "..", width);
    for (; (bytes = sequence_length(s + end)) != 0 && columns(s + end, bytes) <= left; end += bytes)
        left -= columns(s + end, bytes);
    return arena_printf(arena, "%.*s%s", (int)end, s, ellipsis);
}
