/* json_out.h: a streaming JSON writer into a strbuf; nothing to parse. It keeps commas and
 * nesting; keys and strings are escaped, invalid UTF-8 becomes U+FFFD. Unbalanced calls are our
 * bug and are asserted on.
 *
 *     json_begin(&j, &buf);
 *     json_object(&j, NULL);              {
 *     json_int(&j, "frees", 3);             "frees": 3,
 *     json_array(&j, "sites");              "sites": [
 *     json_end(&j);                         ]
 *     json_end(&j);                       }
 */
#ifndef UTIL_JSON_OUT_H
#define UTIL_JSON_OUT_H

#include "util/strbuf.h"

enum { JSON_DEPTH_MAX = 64 };

struct json {
    struct strbuf *out;
    uint32_t depth;
    bool has_items[JSON_DEPTH_MAX];
    char closer[JSON_DEPTH_MAX];
    bool on_one_line[JSON_DEPTH_MAX];
};

/* Begin to append to OUT, which stays the caller's. */
void json_begin(struct json *j, struct strbuf *out);

/* In all that follow, KEY is NULL inside an array and at the top level. json_end ends the innermost
 * object or array that is open. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);

/* An object whose members stay on its line; for small ones that come in great numbers. */
void json_object_line(struct json *j, const char *key);
void json_end(struct json *j);
void json_int(struct json *j, const char *key, int64_t value);
void json_uint(struct json *j, const char *key, uint64_t value);
void json_double(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_string(struct json *j, const char *key, const char *value); // NULL gives null.

#endif
