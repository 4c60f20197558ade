/* json_stack.h: stacks and sites as JSON. */
#ifndef JSON_JSON_STACK_H
#define JSON_JSON_STACK_H

#include "json/json_tables.h"

/* FRAME at LOCATION, in the object that is open: its index, or its members. */
void json_frame(struct json_tables *t, uint32_t frame, uint32_t location);

/* S as KEY: its index, or a list of its frames, innermost first. */
void json_stack(struct json_tables *t, const char *key, const struct stack *s);

/* The COUNT sites V as KEY: columns, or a list. */
void json_sites(struct json_tables *t, const char *key, const struct stack *const *v, size_t count);

/* Add members to site I of them, or, with SIZE_MAX, to one that only stands for their names. */
typedef void json_site_more(struct json_tables *t, size_t i, const void *arg);

/* The same, each with what MORE adds. */
void json_sites_more(struct json_tables *t, const char *key, const struct stack *const *v,
                     size_t count, json_site_more *more, const void *arg);

#endif
