/* json_out.h: a streaming JSON writer into a strbuf. It writes the commas and the indentation,
 * escapes keys and strings, and replaces invalid UTF-8 by U+FFFD. Unbalanced calls are internal
 * errors. Long output is drained between two values (strbuf_pause).
 *
 *     json_begin(&j, &buf, 2);
 *     json_object(&j, NULL);              {
 *     json_int(&j, "frees", 3);             "frees": 3,
 *     json_array(&j, "sites");              "sites": [
 *     json_end(&j);                         ]
 *     json_end(&j);                       } */
#ifndef UTIL_JSON_OUT_H
#define UTIL_JSON_OUT_H

#include "util/strbuf.h"

enum { JSON_DEPTH_MAX = 64 };

/* Versions of a document's layout; docs/json.md is the contract of both. */
enum { JSON_VERSION_NESTED = 1, JSON_VERSION_TABLES = 2 };

/* Rows whose members are collected in columns. */
struct json_columns {
    struct json_column *v;
    size_t count, capacity;
    size_t next; // Index of the column of the row's next member.
    size_t rows; // Number of complete rows.
};

enum json_layout {
    JSON_LINES = 0, // One line for each value.
    JSON_ONE_LINE,
    JSON_FILLED, // Full lines without blanks.
};

struct json {
    struct strbuf *out;
    uint32_t version; // JSON_VERSION_…; chosen by the writer of a document.
    uint32_t depth;
    bool has_items[JSON_DEPTH_MAX];
    char closer[JSON_DEPTH_MAX];
    enum json_layout layout[JSON_DEPTH_MAX];
    size_t filled; // Length in bytes of the line being filled.
    struct json_columns columns;
    const char *next_key;     // Key passed to json_key; NULL = none.
    uint32_t row_depth;       // Depth of the open row of json_columns; 0 = none.
    struct strbuf *of_columns; // Output of the columns when they end.
};

/* Begin to append to OUT in the layout VERSION. OUT stays the caller's. */
void json_begin(struct json *j, struct strbuf *out, uint32_t version);

/* KEY is NULL inside an array and at the top level, in all following functions. json_end closes the
 * innermost open object or array. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);

/* Make the next value the member KEY of the open object, although its writer passes no key. This
 * nests a document that is otherwise at the top level. */
void json_key(struct json *j, const char *key);

/* Open an object whose members share one line, for many small objects. */
void json_object_line(struct json *j, const char *key);

/* Open an array whose values fill lines, for columns of numbers. */
void json_array_filled(struct json *j, const char *key);
void json_end(struct json *j);

/* Write an object of columns, for large tables: each member of a row is appended to the column of
 * the name. All rows have the same members in the same order. Between json_columns and
 * json_columns_end there are exactly ROWS rows, each ended by json_end. If ROWS is 0, there is one
 * row, which only provides the names. Columns are buffered until the end. Only one such object may
 * be open at a time.
 *
 *     json_columns(&j, "sites");          "sites": {
 *     json_row(&j);                         "frees": [3,4],
 *     json_int(&j, "frees", 3);             "stack": [1,7]
 *     json_int(&j, "stack", 1);           }
 *     json_end(&j); …
 *     json_columns_end(&j, 2); */
void json_columns(struct json *j, const char *key);
void json_row(struct json *j);
void json_columns_end(struct json *j, size_t rows);

void json_int(struct json *j, const char *key, int64_t value);
void json_uint(struct json *j, const char *key, uint64_t value);

/* Write VALUE as a hexadecimal string, "0x1a2b". A number would lose bits in the many readers that
 * convert numbers to doubles. */
void json_address(struct json *j, const char *key, uint64_t value);

void json_double(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
// A VALUE of NULL is written as null.
void json_string(struct json *j, const char *key, const char *value);

#endif
