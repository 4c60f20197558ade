/* json_out.c: write one line per value, indented by two blanks per level, so that people and diff
 * can read the output. Columns may have a million numbers, so they share lines, whose length pagers
 * and editors can handle.
 */
#include "util/json_out.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/amount.h"
#include "util/arena.h"
#include "util/ensure.h"

enum { FILLED_BYTES = 100 };

struct json_column {
    char *key;
    struct strbuf text; // Values of the column, without the brackets.
    size_t filled;      // Start of the last line in `text`.
};

void
json_begin(struct json *j, struct strbuf *out, uint32_t version)
{
    *j = (struct json){.out = out, .version = version};
}

/* Return the length of the prefix of S that needs no escape; mostly all of S. */
static size_t
plain_bytes(const char *s)
{
    size_t n = 0;

    while (s[n] >= ' ' && s[n] <= '~' && s[n] != '"' && s[n] != '\\')
        n++;
    return n;
}

/* Write S as a JSON string. Characters that control a terminal are escaped, which loses nothing.
 * Invalid UTF-8 becomes U+FFFD. */
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

/* Write the separator between the previous value, if any, and the next. */
static void
separate(struct json *j, bool has_items, enum json_layout layout)
{
    if (has_items)
        strbuf_char(j->out, ',');
    switch (layout) {
    case JSON_LINES:
        new_line(j);
        return;
    case JSON_ONE_LINE:
        if (has_items)
            strbuf_char(j->out, ' ');
        return;
    case JSON_FILLED:
        if (j->filled <= FILLED_BYTES)
            return;
        strbuf_char(j->out, '\n');
        strbuf_pause(j->out);
        j->filled = 0;
        return;
    }
}

static void
add_column(struct json *j, const char *key)
{
    struct json_columns *c = &j->columns;

    if (c->count == c->capacity) {
        c->capacity = c->capacity ? c->capacity * 2 : 32;
        c->v = xrealloc(c->v, c->capacity * sizeof *c->v);
    }
    c->v[c->count] = (struct json_column){.key = xmalloc(strlen(key) + 1)};
    memcpy(c->v[c->count++].key, key, strlen(key) + 1);
}

/* Direct further output to the column KEY. */
static void
choose_column(struct json *j, const char *key)
{
    struct json_columns *c = &j->columns;
    struct json_column *column;

    if (c->next == c->count && c->rows == 0)
        add_column(j, key);
    ENSURE(c->next < c->count && strcmp(c->v[c->next].key, key) == 0);
    if (c->next > 0)
        c->v[c->next - 1].filled = j->filled;
    column = &c->v[c->next++];
    j->out = &column->text;
    j->filled = column->filled;
    separate(j, c->rows > 0, JSON_FILLED);
}

void
json_key(struct json *j, const char *key)
{
    ENSURE(j->next_key == NULL);
    j->next_key = key;
}

static void
start_value(struct json *j, const char *key)
{
    if (key == NULL && j->next_key != NULL) {
        key = j->next_key;
        j->next_key = NULL;
    }
    if (j->row_depth != 0 && j->depth == j->row_depth) {
        ENSURE(key != NULL);
        choose_column(j, key);
        return;
    }
    if (j->depth > 0) {
        separate(j, j->has_items[j->depth - 1], j->layout[j->depth - 1]);
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
    j->layout[j->depth] = j->depth > 0 && j->layout[j->depth - 1] != JSON_LINES ? JSON_ONE_LINE
                                                                               : JSON_LINES;
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
    j->layout[j->depth - 1] = JSON_ONE_LINE;
}

void
json_array(struct json *j, const char *key)
{
    open_nest(j, key, '[', ']');
}

void
json_array_filled(struct json *j, const char *key)
{
    json_array(j, key);
    j->layout[j->depth - 1] = JSON_FILLED;
    j->filled = 0;
}

/* Count the row as complete. */
static void
end_row(struct json *j)
{
    struct json_columns *c = &j->columns;

    ENSURE(c->next == c->count);
    if (c->count > 0)
        c->v[c->count - 1].filled = j->filled;
    c->next = 0;
    c->rows++;
    j->depth--;
    j->row_depth = 0;
    j->out = j->of_columns;
}

void
json_end(struct json *j)
{
    ENSURE(j->depth > 0);
    if (j->depth == j->row_depth) {
        end_row(j);
        return;
    }
    j->depth--;
    if (j->has_items[j->depth] && j->layout[j->depth] == JSON_LINES)
        new_line(j);
    strbuf_char(j->out, j->closer[j->depth]);
    if (j->depth == 0)
        strbuf_char(j->out, '\n');
    strbuf_pause(j->out);
}

void
json_columns(struct json *j, const char *key)
{
    ENSURE(j->columns.v == NULL);
    json_object(j, key);
    j->of_columns = j->out;
}

void
json_row(struct json *j)
{
    ENSURE(j->row_depth == 0 && j->depth < JSON_DEPTH_MAX);
    j->layout[j->depth] = JSON_FILLED; // The members of this object share a line.
    j->closer[j->depth++] = '}';
    j->row_depth = j->depth;
}

void
json_columns_end(struct json *j, size_t rows)
{
    struct json_columns c = j->columns;

    ENSURE(j->row_depth == 0 && c.rows == (rows ? rows : 1));
    j->columns = (struct json_columns){0};
    for (size_t i = 0; i < c.count; i++) {
        json_array_filled(j, c.v[i].key);
        if (rows > 0)
            strbuf_add(j->out, c.v[i].text.text, c.v[i].text.length);
        json_end(j);
        strbuf_release(&c.v[i].text);
        free(c.v[i].key);
    }
    free(c.v);
    json_end(j);
}

/* Write a number without printf's formats, because most output is numbers. */
static void
write_number(struct json *j, bool negative, uint64_t value)
{
    char digits[24];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    if (negative)
        digits[--at] = '-';
    strbuf_add(j->out, digits + at, sizeof digits - at);
    j->filled += sizeof digits - at + 1;
}

void
json_int(struct json *j, const char *key, int64_t value)
{
    start_value(j, key);
    write_number(j, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void
json_uint(struct json *j, const char *key, uint64_t value)
{
    start_value(j, key);
    write_number(j, false, value);
}

void
json_address(struct json *j, const char *key, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "0x%" PRIx64, value);
    json_string(j, key, text);
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

/* Count a word or a text that was just written to the column, whose length was BEFORE bytes. */
static void
count_filled(struct json *j, size_t before)
{
    j->filled += j->out->length - before + 1;
}

void
json_bool(struct json *j, const char *key, bool value)
{
    size_t before;

    start_value(j, key);
    before = j->out->length;
    strbuf_str(j->out, value ? "true" : "false");
    count_filled(j, before);
}

void
json_string(struct json *j, const char *key, const char *value)
{
    size_t before;

    start_value(j, key);
    before = j->out->length;
    if (value)
        write_quoted(j->out, value);
    else
        strbuf_str(j->out, "null");
    count_filled(j, before);
}
