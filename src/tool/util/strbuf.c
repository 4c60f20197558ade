/* strbuf.c: capacity doubles. Out of memory ends the program (arena.c). */
#include "util/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/arena.h"
#include "util/ensure.h"

enum { DRAIN_BYTES = 1 << 20 };

static void
reserve(struct strbuf *b, size_t more_bytes)
{
    size_t wanted = b->length + more_bytes + 1;

    if (wanted <= b->capacity)
        return;
    if (wanted < b->capacity * 2)
        wanted = b->capacity * 2;
    if (wanted < 64)
        wanted = 64;
    b->text = xrealloc(b->text, wanted);
    b->capacity = wanted;
}

char *
strbuf_room(struct strbuf *b, size_t more_bytes)
{
    reserve(b, more_bytes);
    return b->text + b->length;
}

void
strbuf_grew(struct strbuf *b, size_t size_bytes)
{
    b->length += size_bytes;
    b->text[b->length] = '\0';
}

void
strbuf_add(struct strbuf *b, const void *data, size_t size_bytes)
{
    reserve(b, size_bytes);
    if (size_bytes)
        memcpy(b->text + b->length, data, size_bytes);
    b->length += size_bytes;
    b->text[b->length] = '\0';
}

void
strbuf_str(struct strbuf *b, const char *s)
{
    strbuf_add(b, s, strlen(s));
}

void
strbuf_char(struct strbuf *b, char c)
{
    strbuf_add(b, &c, 1);
}

void
strbuf_fmt(struct strbuf *b, const char *format, ...)
{
    va_list ap;
    int length;

    va_start(ap, format);
    length = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (length < 0)
        return;
    reserve(b, (size_t)length);
    va_start(ap, format);
    vsnprintf(b->text + b->length, (size_t)length + 1, format, ap);
    va_end(ap);
    b->length += (size_t)length;
}

void
strbuf_pause(struct strbuf *b)
{
    if (b->drain != NULL && b->length >= DRAIN_BYTES)
        b->drain(b);
}

const char *
strbuf_text(const struct strbuf *b)
{
    return b->text ? b->text : "";
}

void
strbuf_clear(struct strbuf *b)
{
    b->length = 0;
    if (b->text)
        b->text[0] = '\0';
}

void
strbuf_cut(struct strbuf *b, size_t length)
{
    b->length = length;
    if (b->text)
        b->text[length] = '\0';
}

void
strbuf_release(struct strbuf *b)
{
    ENSURE_VALID(strbuf_is_valid(b));
    free(b->text);
    *b = (struct strbuf){0};
}

bool
strbuf_is_valid(const struct strbuf *b)
{
    VALID(b->text != NULL || (b->capacity == 0 && b->length == 0)); // No text without memory.
    VALID(b->text == NULL || b->length < b->capacity);              // There is room for the NUL.
    VALID(b->text == NULL || b->text[b->length] == '\0');           // The text ends with a NUL.
    return true;
}
