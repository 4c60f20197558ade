/* pattern.c: bound the cost of regular expressions.
 *
 * regcomp expands repetitions: x{3,5} becomes xxx(x(x)?)?, and nested counts multiply. The 27
 * characters of ((a{1,255}){1,255}){1,255} become 16 million copies and take 23 GB. With optional
 * copies, memory grows with the square of their number, and time with the cube. Therefore the parts
 * are counted before regcomp runs, and a pattern of more than PATTERN_PARTS_MAX is rejected. The
 * most expensive accepted pattern takes about 130 MB or some seconds.
 *
 * Back-references make the time of regexec exponential in the text, so they are rejected as well.
 *
 * A part is a character, a bracket expression, a group or an operator. The count parses leniently:
 * regcomp reports syntax errors. */
#include "util/pattern.h"

#include <ctype.h>
#include <string.h>

static uint64_t
capped(uint64_t parts)
{
    return parts > PATTERN_PARTS_MAX ? (uint64_t)PATTERN_PARTS_MAX + 1 : parts;
}

/* Return the end of the bracket expression that opens at S. */
static const char *
skip_bracket(const char *s)
{
    s++;
    s += *s == '^';
    s += *s == ']'; // A "]" directly after the opening bracket is a member.
    while (*s != '\0' && *s != ']') {
        const char class_end[] = {s[1], ']', '\0'};
        const char *end = NULL;

        if (*s == '[' && s[1] != '\0' && strchr(":.=", s[1]) != NULL)
            end = strstr(s + 2, class_end);
        s = end != NULL ? end + 2 : s + 1;
    }
    return *s == ']' ? s + 1 : s;
}

/* Return the number at *AT and advance *AT past it; 0 if there is none. */
static uint64_t
read_count(const char **at)
{
    uint64_t count = 0;

    for (; isdigit((unsigned char)**at); (*at)++)
        count = capped(count * 10 + (uint64_t)(**at - '0'));
    return count;
}

/* Return the number of copies in the interval at S, which follows the "{". Set *RET_END to its end.
 * Return 0 if S is not an interval. */
static uint64_t
read_interval(const char *s, const char **ret_end)
{
    uint64_t least = read_count(&s), most = least;

    if (*s == ',') {
        s++;
        most = isdigit((unsigned char)*s) ? read_count(&s) : least + 1;
    }
    if (*s != '}')
        return 0;
    *ret_end = s + 1;
    return capped(most > least ? most : least > 0 ? least : 1);
}

/* Return the number of parts of an atom of PARTS after the repetitions at *AT; advance *AT past
 * them. */
static uint64_t
repeat(const char **at, uint64_t parts)
{
    for (;; parts = capped(parts)) {
        const char *end = *at + 1;
        uint64_t copies;

        if (**at == '*' || **at == '?')
            parts++;
        else if (**at == '+')
            parts = 2 * parts + 1; // x+ is written out as xx*.
        else if (**at == '{' && (copies = read_interval(end, &end)) != 0)
            parts = parts * copies + 1;
        else
            return parts;
        *at = end;
    }
}

/* Return the number of parts from *AT to the end, or to the ")" of the group at DEPTH. Advance *AT
 * to there. */
static uint64_t
count_parts(const char **at, size_t depth)
{
    uint64_t sum = 0;

    while (**at != '\0' && !(**at == ')' && depth > 0)) {
        uint64_t parts = 1;

        if (**at == '(') {
            (*at)++;
            parts += count_parts(at, depth + 1);
            *at += **at == ')';
        } else if (**at == '[') {
            *at = skip_bracket(*at);
        } else {
            *at += **at == '\\' && (*at)[1] != '\0' ? 2 : 1;
        }
        sum = capped(sum + repeat(at, parts));
    }
    return sum;
}

/* Return true if S contains a back-reference, \1 to \9. */
static bool
refers_back(const char *s)
{
    while (*s != '\0') {
        if (*s == '[') {
            s = skip_bracket(s);
            continue;
        }
        if (*s == '\\' && s[1] >= '1' && s[1] <= '9')
            return true;
        s += *s == '\\' && s[1] != '\0' ? 2 : 1;
    }
    return false;
}

int
pattern_compile(regex_t *ret, const char *text, const char *option, struct err *err)
{
    const char *at = text;
    char reason[128];
    int rc;

    // The length limits the recursion of count_parts.
    if (strlen(text) > PATTERN_PARTS_MAX || count_parts(&at, 0) > PATTERN_PARTS_MAX)
        return err_set(err, HEAPTAP_USAGE,
                       "--%s: the regular expression is too large: it has more than %d parts with "
                       "its repetitions written out; use smaller counts or fewer alternatives",
                       option, PATTERN_PARTS_MAX);
    if (refers_back(text))
        return err_set(err, HEAPTAP_USAGE,
                       "--%s: '%s' has a back-reference, which may take hours to match; write out "
                       "the repeated text",
                       option, text);
    rc = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);
    if (rc == 0)
        return 0;
    regerror(rc, ret, reason, sizeof reason);
    return err_set(err, HEAPTAP_USAGE, "--%s: '%s' is no valid regular expression: %s", option,
                   text, reason);
}
