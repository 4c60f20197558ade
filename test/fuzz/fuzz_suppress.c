/* fuzz_suppress.c: parse any bytes as a suppression file, whose last line is also the text that
 * patterns are matched with. The matcher is compared with a slow and obvious one. */
/* covers: suppress.c glob.c */
#include <stdlib.h>
#include <string.h>

#include "analyse/leaks.h"

enum { PATTERN_MAX = 64, TEXT_MAX = 128 }; // Maximum number of input bytes that are compared.

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The definition of a match, as a table: matches[j] is true if the pattern so far describes a part
 * of TEXT that ends before byte j and starts at a valid place. */
static bool
table_glob(const char *pattern, const char *text)
{
    size_t n = strlen(pattern), m = strlen(text);
    bool at_start = n > 0 && pattern[0] == '^';
    bool at_end = n > (at_start ? 1u : 0u) && pattern[n - 1] == '$';
    bool matches[TEXT_MAX + 1], any = false;

    for (size_t j = 0; j <= m; j++)
        matches[j] = !at_start || j == 0;
    for (size_t i = at_start; i < n - at_end; i++) {
        bool before = false; // For a star: true if any earlier j matched; for text: matches[j - 1].

        for (size_t j = 0; j <= m; j++) {
            bool now = matches[j];

            if (pattern[i] == '*')
                matches[j] = before = before || now;
            else
                matches[j] = j > 0 && before && text[j - 1] == pattern[i];
            if (pattern[i] != '*')
                before = now;
        }
    }
    for (size_t j = 0; j <= m; j++)
        any = any || matches[j];
    return at_end ? matches[m] : any;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct suppressions s = {0};
    struct arena arena = {0};
    const char *text;
    struct err err;

    suppress_parse(&s, (const char *)data, size, "fuzz", &arena, &err);
    text = arena_strndup(&arena, (const char *)data, size);
    if (strrchr(text, '\n'))
        text = strrchr(text, '\n') + 1;
    for (size_t i = 0; i < s.count; i++) {
        bool matches = glob_match(s.v[i].pattern, text);

        if (strlen(s.v[i].pattern) <= PATTERN_MAX && strlen(text) <= TEXT_MAX &&
            matches != table_glob(s.v[i].pattern, text))
            abort();
    }
    arena_release(&arena);
    return 0;
}
