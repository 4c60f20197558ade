/* json_check.h: corrupted blocks as JSON. */
#ifndef JSON_JSON_CHECK_H
#define JSON_JSON_CHECK_H

#include "json/json_stack.h"
#include "view/memory_view.h"

/* Write block B of E as the object KEY; null if its address is 0. */
typedef void json_check_block(struct json_tables *t, const char *key, const struct view *v,
                              const struct examined *e, const struct block *b);

/* Write the results of checking M's memory as the member "check", with at most LIMIT blocks. */
void json_check(struct json_tables *t, const struct view *v, const struct memory_view *m,
                size_t limit, json_check_block *put_block);

#endif
