/* json_out.c: one line per value, two blanks per level, so that the output reads and diffs well. */
#include "util/json_out.h"

#include <inttypes.h>
#include <math.h>

#include "util/character.h"
#include "util/ensure.h"

void
json_begin(struct json *j, struct strbuf *out)
{
    *j = (struct json){.out = out};
}

/* How many bytes of S stand for themselves; nearly always all of them. */
static size_t
plain_bytes(const char *s)
{
    size_t n = 0;

    while (s[n] >= ' ' && s[n] <= '~' && s[n] != '"' && s[n] != '\\')
        n++;
    return n;
}

/* What would drive a terminal is escaped, which loses nothing; bytes that are no text become
 * U+FFFD. */
static void
write_quoted(struct strbuf *out, const char *s)
{
    strbuf_char(out, '"');
    while (*s != '\0') {
        size_t bytes = plain_bytes(s);
        uint32_t c;

        if (bytes > 0) {
            strbuf_add(out, s, bytes);
            s += bytes;
            continue;
        }
        bytes = character_bytes(s, &c);

        if (bytes == 0) {
            strbuf_str(out, "\xef\xbf\xbd");
        } else if (*s == '"' || *s == '\\') {
            strbuf_char(out, '\\');
            strbuf_char(out, *s);
        } else if (character_drives(c)) {
            strbuf_fmt(out, "\\u%04x", c);
        } else {
            strbuf_add(out, s, bytes);
        }
        s += bytes ? bytes : 1;
    }
    strbuf_char(out, '"');
}

static void
new_line(struct json *j)
{
    strbuf_char(j->out, '\n');
    for (uint32_t i = 0; i < j->depth; i++)
        strbuf_str(j->out, "  ");
}

static void
start_value(struct json *j, const char *key)
{
    if (j->depth > 0) {
        if (j->has_items[j->depth - 1])
            strbuf_char(j->out, ',');
        if (j->on_one_line[j->depth - 1] && j->has_items[j->depth - 1])
            strbuf_char(j->out, ' ');
        else if (!j->on_one_line[j->depth - 1])
            new_line(j);
        j->has_items[j->depth - 1] = true;
    }
    ENSURE((key != NULL) == (j->depth > 0 && j->closer[j->depth - 1] == '}'));
    if (key) {
        write_quoted(j->out, key);
        strbuf_str(j->out, ": ");
    }
}

static void
open_nest(struct json *j, const char *key, char opener, char closer)
{
    start_value(j, key);
    ENSURE(j->depth < JSON_DEPTH_MAX);
    strbuf_char(j->out, opener);
    j->closer[j->depth] = closer;
    j->has_items[j->depth] = false;
    j->on_one_line[j->depth] = false;
    j->depth++;
}

void
json_object(struct json *j, const char *key)
{
    open_nest(j, key, '{', '}');
}

void
json_object_line(struct json *j, const char *key)
{
    json_object(j, key);
    j->on_one_line[j->depth - 1] = true;
}

void
json_array(struct json *j, const char *key)
{
    open_nest(j, key, '[', ']');
}

void
json_end(struct json *j)
{
    ENSURE(j->depth > 0);
    j->depth--;
    if (j->has_items[j->depth] && !j->on_one_line[j->depth])
        new_line(j);
    strbuf_char(j->out, j->closer[j->depth]);
    if (j->depth == 0)
        strbuf_char(j->out, '\n');
    strbuf_pause(j->out);
}

void
json_int(struct json *j, const char *key, int64_t value)
{
    start_value(j, key);
    strbuf_fmt(j->out, "%" PRId64, value);
}

void
json_uint(struct json *j, const char *key, uint64_t value)
{
    start_value(j, key);
    strbuf_fmt(j->out, "%" PRIu64, value);
}

void
json_double(struct json *j, const char *key, double value)
{
    start_value(j, key);
    if (isfinite(value))
        strbuf_fmt(j->out, "%.6g", value);
    else
        strbuf_str(j->out, "null");
}

void
json_bool(struct json *j, const char *key, bool value)
{
    start_value(j, key);
    strbuf_str(j->out, value ? "true" : "false");
}

void
json_string(struct json *j, const char *key, const char *value)
{
    start_value(j, key);
    if (value)
        write_quoted(j->out, value);
    else
        strbuf_str(j->out, "null");
}
