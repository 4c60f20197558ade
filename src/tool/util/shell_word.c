/* shell_word.c: quote a path for a command that a message suggests.
 *
 *     app.heaptap      app.heaptap          nothing to quote
 *     my app.heaptap   'my app.heaptap'     single quotes, in which only ' is special
 *     -x  @x  4711     ./-x  ./@x  ./4711   an option, a list and a process id of heaptap
 *     a<newline>b      $'a\012b'            characters that messages replace
 *
 * Messages replace control characters, invalid UTF-8, and in the C locale all characters beyond
 * ASCII. A path with such bytes is written as bash, zsh, ksh and POSIX of 2024 read it. */
#include "util/shell_word.h"

#include <string.h>

#include "util/amount.h"
#include "util/strbuf.h"

#define DIGITS "0123456789"
#define PLAIN DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_./:=@%+,-"

static bool
is_shown_as_it_is(struct arena *arena, const char *path)
{
    return strcmp(ascii_text(arena, character_clean(arena, path)), path) == 0;
}

/* Append PATH in single quotes. */
static void
put_single(struct strbuf *b, const char *path)
{
    strbuf_char(b, '\'');
    for (; *path != '\0'; path++)
        if (*path == '\'')
            strbuf_str(b, "'\\''");
        else
            strbuf_char(b, *path);
    strbuf_char(b, '\'');
}

/* Append PATH with escapes for all bytes that are special or not ASCII. */
static void
put_escaped(struct strbuf *b, const char *path)
{
    strbuf_str(b, "$'");
    for (; *path != '\0'; path++)
        if (*path < ' ' || *path >= 0x7f || *path == '\'' || *path == '\\')
            strbuf_fmt(b, "\\%03o", (unsigned)(unsigned char)*path);
        else
            strbuf_char(b, *path);
    strbuf_char(b, '\'');
}

const char *
shell_word(struct arena *arena, const char *path)
{
    struct strbuf b = {0};
    const char *word;

    if (*path == '-' || *path == '@' || (*path != '\0' && path[strspn(path, DIGITS)] == '\0'))
        path = arena_printf(arena, "./%s", path);
    if (*path != '\0' && path[strspn(path, PLAIN)] == '\0')
        return path;
    if (is_shown_as_it_is(arena, path))
        put_single(&b, path);
    else
        put_escaped(&b, path);
    word = arena_strdup(arena, strbuf_text(&b));
    strbuf_release(&b);
    return word;
}
