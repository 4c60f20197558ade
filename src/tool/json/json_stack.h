/* json_stack.h: stacks and sites as JSON. */
#ifndef JSON_JSON_STACK_H
#define JSON_JSON_STACK_H

#include "json/json_tables.h"

/* Write FRAME at LOCATION into the open object: its index, or its members. */
void json_frame(struct json_tables *t, uint32_t frame, uint32_t location);

/* Write S as the member KEY: its index, or a list of its frames, innermost first. */
void json_stack(struct json_tables *t, const char *key, const struct stack *s);

/* Write the COUNT sites V as the member KEY: as columns, or as a list. */
void json_sites(struct json_tables *t, const char *key, const struct stack *const *v, size_t count);

/* Add members to site I. SIZE_MAX means a dummy site, whose values are not used. */
typedef void json_site_more(struct json_tables *t, size_t i, const void *arg);

/* Like json_sites, with the members that MORE adds to each site. */
void json_sites_more(struct json_tables *t, const char *key, const struct stack *const *v,
                     size_t count, json_site_more *more, const void *arg);

#endif
