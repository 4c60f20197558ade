/* messages.c: print the command's messages.
 *
 * Messages go to stderr, one line each, so that stdout has only results. On a terminal, a hint that
 * is wider than 80 columns is wrapped; the command at its end is on one line, so that it can be
 * copied. Elsewhere it stays on one line, so that a search of a log finds it. Texts may contain
 * names from untrusted files, so each passes through style_clean. */
#include "view/messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/amount.h"
#include "view/style.h"

enum { HINT_WIDTH = 80 };

/* Return the position in TEXT of a command with which it begins or ends, or its length. */
static size_t
command_start(const char *text)
{
    const char *command = strstr(text, ": heaptap ");

    if (strncmp(text, "heaptap ", strlen("heaptap ")) == 0)
        return 0;
    return command != NULL ? (size_t)(command + 2 - text) : strlen(text);
}

/* Append TEXT, which begins in column strlen(PREFIX), in lines of at most HINT_WIDTH columns. */
static void
put_wrapped(struct strbuf *out, struct arena *arena, const char *prefix, const char *text)
{
    size_t indent = strlen(prefix), column = indent, command = command_start(text);

    for (size_t i = 0; text[i] != '\0';) {
        size_t length = i >= command ? strlen(text + i) : strcspn(text + i, " ");
        size_t width = style_width(arena_strndup(arena, text + i, length));

        if (column > indent && column + 1 + width > HINT_WIDTH) {
            strbuf_fmt(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            strbuf_char(out, ' ');
            column++;
        }
        strbuf_fmt(out, "%.*s", (int)length, text + i);
        column += width;
        i += length;
        i += text[i] == ' ';
    }
}

static void
put_message(enum attr attr, const char *prefix, const char *format, va_list args)
{
    struct style style = style_for(STDERR_FILENO, false);
    struct arena arena = {0};
    struct strbuf line = {0};

    const char *text = style_clean(&arena, arena_vprintf(&arena, format, args));

    style_text(&style, &line, attr, prefix);
    if (attr == ATTR_DIM && isatty(STDERR_FILENO) == 1)
        put_wrapped(&line, &arena, prefix, text);
    else
        strbuf_str(&line, text);
    strbuf_char(&line, '\n');
    fflush(stdout); // Keep the two streams in order, for a terminal or a log.
    fputs(ascii_text(&arena, strbuf_text(&line)), stderr);
    strbuf_release(&line);
    arena_release(&arena);
}

void
message_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put_message(ATTR_BOLD, "heaptap: ", format, args);
    va_end(args);
}

void
message_warning(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put_message(ATTR_WARNING, "heaptap: warning: ", format, args);
    va_end(args);
}

void
message_hint(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put_message(ATTR_DIM, "hint: ", format, args);
    va_end(args);
}
