/* json_out.h: a streaming JSON writer into a strbuf. It writes commas and nesting; keys and strings
 * are escaped, invalid UTF-8 becomes U+FFFD. Unbalanced calls are internal errors. Long output is
 * drained while it is written (strbuf_pause), except within one value.
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

/* Layouts of documents. docs/json.md is the contract of both. */
enum { JSON_VERSION_NESTED = 1, JSON_VERSION_TABLES = 2 };

/* Rows whose members become columns. */
struct json_columns {
    struct json_column *v;
    size_t count, capacity;
    size_t next; // The column of the row's next member.
    size_t rows; // Complete ones.
};

enum json_layout {
    JSON_LINES = 0, // A line for each value.
    JSON_ONE_LINE,
    JSON_FILLED, // Filled lines, without blanks.
};

struct json {
    struct strbuf *out;
    uint32_t version; // One of the above; chosen by the writer of a document.
    uint32_t depth;
    bool has_items[JSON_DEPTH_MAX];
    char closer[JSON_DEPTH_MAX];
    enum json_layout layout[JSON_DEPTH_MAX];
    size_t filled; // Bytes of the line that is being filled.
    struct json_columns columns;
    const char *next_key;     // Key of json_key.
    uint32_t row_depth;       // Depth of the open row whose members become columns; 0 = none.
    struct strbuf *of_columns; // Final destination of the columns.
};

/* Begin to append to OUT, which stays the caller's, in the layout VERSION. */
void json_begin(struct json *j, struct strbuf *out, uint32_t version);

/* In all following functions, KEY is NULL inside an array and at the top level. json_end closes the
 * innermost open object or array. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);

/* The next value becomes the member KEY of the open object. It is written without a key, because it
 * is usually a top-level document; this nests it in another. */
void json_key(struct json *j, const char *key);

/* Open an object whose members stay on its line, for many small objects. */
void json_object_line(struct json *j, const char *key);

/* Open an array whose values fill lines, for columns of numbers. */
void json_array_filled(struct json *j, const char *key);
void json_end(struct json *j);

/* An object of columns, for large tables: each member of a row is appended to the column of its
 * name. All rows have the same members in the same order. json_columns and json_columns_end enclose
 * exactly ROWS rows. If ROWS is 0, they enclose one row, whose members only provide the names.
 * json_end ends a row. Columns are buffered until the end; only one such object may be open at a
 * time.
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

/* Write VALUE as a hexadecimal string, "0x1a2b": many readers convert numbers to doubles. */
void json_address(struct json *j, const char *key, uint64_t value);

void json_double(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_string(struct json *j, const char *key, const char *value); // NULL gives null.

#endif
