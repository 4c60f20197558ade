/* glob.c: match wildcards without recursion.
 *
 * A pattern consists of plain pieces between stars. Each piece is matched at its leftmost place,
 * because an earlier match leaves more text for the pieces behind it. Only a last piece before "$"
 * is matched at the end of the text. So the search never goes back, and hostile patterns cost no
 * more than others. */
#include "analyse/leaks.h"

#include <string.h>

/* Return the length of the piece at PATTERN, up to the next star or END. */
static size_t
piece_length(const char *pattern, const char *end)
{
    const char *star = memchr(pattern, '*', (size_t)(end - pattern));

    return (size_t)((star ? star : end) - pattern);
}

bool
glob_match(const char *pattern, const char *text)
{
    size_t length = strlen(pattern);
    bool at_start = length > 0 && pattern[0] == '^';
    bool at_end = length > (at_start ? 1 : 0) && pattern[length - 1] == '$';
    const char *p = pattern + (at_start ? 1 : 0);
    const char *end = pattern + length - (at_end ? 1 : 0);
    const char *rest = text ? text : "";
    const char *rest_end = rest + strlen(rest);
    bool fixed = at_start; // The next piece must match exactly here.

    for (;;) {
        size_t n = piece_length(p, end);
        bool last = p + n == end;
        const char *found;

        if (last && at_end) {
            if ((size_t)(rest_end - rest) < n || (fixed && (size_t)(rest_end - rest) != n))
                return false;
            return memcmp(rest_end - n, p, n) == 0;
        }
        if (fixed)
            found = (size_t)(rest_end - rest) >= n && memcmp(rest, p, n) == 0 ? rest : NULL;
        else
            found = memmem(rest, (size_t)(rest_end - rest), p, n);
        if (found == NULL)
            return false;
        if (last)
            return true;
        rest = found + n;
        p += n + 1;
        fixed = false;
    }
}
