/* messages.c: print the command's messages.
 *
 * Messages go to stderr, one line each, so that stdout has only results. Texts may contain names
 * from untrusted files, so each passes through style_clean. */
#include "view/messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "util/amount.h"
#include "view/style.h"

static void
put_message(enum attr attr, const char *prefix, const char *format, va_list args)
{
    struct style style = style_for(STDERR_FILENO, false);
    struct arena arena = {0};
    struct strbuf line = {0};

    style_text(&style, &line, attr, prefix);
    strbuf_str(&line, style_clean(&arena, arena_vprintf(&arena, format, args)));
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
