/* map_file.c: read linker maps; the form of a line identifies its format.
 *
 *     00008130 T main                                    nm
 *     00008130 00000024 T main                           nm -S
 *                     0x0000000000008130        main     GNU ld -Map
 *      .text.main     0x0000000000008130  0x24  main.o   the same, with -ffunction-sections; the
 *                                                        rest of the line may be on the next one
 *     main    0x00008131   Thumb Code    36  main.o      armlink --map --symbols
 *
 * Every linker has a different format, and most lines of a map have other contents, so an
 * unrecognised line is not an error. A symbol without a size extends to the next symbol. Data
 * symbols may be omitted, because none lies between an address and its function. */
#include "layout/map_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS_MAX = 6, HEX_MIN = 4, HEX_MAX = 16 };

struct token {
    const char *text;
    size_t length;
};

static size_t
map_file_split(const char *line, size_t length, struct token tokens[TOKENS_MAX])
{
    size_t count = 0, at = 0;

    while (at < length) {
        size_t start;

        while (at < length && isspace((unsigned char)line[at]))
            at++;
        start = at;
        while (at < length && !isspace((unsigned char)line[at]))
            at++;
        if (at > start && count < TOKENS_MAX)
            tokens[count] = (struct token){line + start, at - start};
        count += at > start;
    }
    return count;
}

static bool
is_address(const struct token *t, uint64_t *ret)
{
    size_t at = t->length > 2 && t->text[0] == '0' && (t->text[1] | 32) == 'x' ? 2 : 0;
    uint64_t value = 0;

    if (t->length - at < HEX_MIN || t->length - at > HEX_MAX)
        return false;
    for (; at < t->length; at++) {
        int c = tolower((unsigned char)t->text[at]);

        if (!isxdigit(c))
            return false;
        value = value << 4 | (uint64_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
    }
    *ret = value;
    return true;
}

static bool
is_name(const struct token *t)
{
    if (!isalpha((unsigned char)t->text[0]) && t->text[0] != '_' && t->text[0] != '$')
        return false;
    for (size_t i = 0; i < t->length; i++)
        if (!isalnum((unsigned char)t->text[i]) && strchr("_.$:~<>@", t->text[i]) == NULL)
            return false;
    return true;
}

/* Return true if T is nm's letter for a function. */
static bool
is_function_letter(const struct token *t)
{
    static const char letters[] = {'t', 'T', 'w', 'W', 'i', 'V'};

    return t->length == 1 && memchr(letters, t->text[0], sizeof letters) != NULL;
}

static bool
map_file_is_word(const struct token *t, const char *word)
{
    return t->length == strlen(word) && memcmp(t->text, word, t->length) == 0;
}

/* If NAME is a section with one function, replace it by the function's name. Otherwise return
 * false. */
static bool
is_section(struct token *name)
{
    static const char prefix[] = ".text.";
    size_t length = sizeof prefix - 1;

    if (name->length <= length || memcmp(name->text, prefix, length) != 0)
        return false;
    name->text += length;
    name->length -= length;
    return is_name(name);
}

/* Return the name in the line of TOKENS, and its address; NULL if there is none. SECTION is the
 * function of a section whose address may be on the next line. */
static const struct token *
map_file_find_name(struct token *tokens, size_t count, struct token *section, uint64_t *ret_address)
{
    const struct token *name = NULL;
    struct token pending = *section;
    uint64_t ignored;

    *section = (struct token){0};
    if (pending.length > 0 && count >= 2 && is_address(&tokens[0], ret_address) &&
        tokens[1].length > 2 && tokens[1].text[1] == 'x') {
        *section = pending;
        return section;
    }
    if (count > 0 && is_section(&tokens[0])) {
        if (count == 1)
            *section = tokens[0];
        return count > 2 && is_address(&tokens[1], ret_address) ? &tokens[0] : NULL;
    }
    if (count == 2)
        name = &tokens[1];
    else if (count == 3 && is_function_letter(&tokens[1]))
        name = &tokens[2];
    else if (count == 4 && is_function_letter(&tokens[2]) && is_address(&tokens[1], &ignored))
        name = &tokens[3];
    if (name != NULL && is_name(name) && is_address(&tokens[0], ret_address))
        return name;
    if (count >= 4 &&
        (map_file_is_word(&tokens[2], "Code") || map_file_is_word(&tokens[3], "Code")) &&
        is_name(&tokens[0]) && is_address(&tokens[1], ret_address))
        return &tokens[0];
    return NULL;
}

static int
map_file_by_address(const void *a, const void *b)
{
    const struct map_name *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return strcmp(x->name, y->name);
}

void
map_file_parse(const char *text, size_t size_bytes, struct arena *arena, struct map_names *ret)
{
    const char *end = text + size_bytes;
    struct token section = {0};

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((newline != NULL ? newline : end) - text);
        struct token tokens[TOKENS_MAX];
        uint64_t address;
        size_t count = map_file_split(text, length, tokens);
        const struct token *name =
            map_file_find_name(tokens, count < TOKENS_MAX ? count : TOKENS_MAX, &section, &address);

        if (name != NULL) {
            arena_grow(arena, &ret->v, &ret->capacity, ret->count, sizeof *ret->v);
            ret->v[ret->count++] =
                (struct map_name){address, arena_strndup(arena, name->text, name->length)};
            if (name == &section)
                section.length = 0;
        }
        text += length + (newline != NULL);
    }
    if (ret->count > 1)
        qsort(ret->v, ret->count, sizeof *ret->v, map_file_by_address);
}

const char *
map_file_name(const struct map_names *names, uint64_t address)
{
    size_t low = 0, high = names->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (names->v[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? names->v[low - 1].name : NULL;
}
