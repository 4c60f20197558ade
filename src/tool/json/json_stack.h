/* json_stack.h: stacks and sites as JSON. */
#ifndef JSON_JSON_STACK_H
#define JSON_JSON_STACK_H

#include "analyse/stacks.h"
#include "util/json_out.h"

/* The members of a FRAME at LOCATION, in the object that is open. */
void json_frame(struct json *j, const struct profile *p, uint32_t frame, uint32_t location);

/* The frames of S, innermost first, as a list KEY. */
void json_stack(struct json *j, const char *key, const struct profile *p, const struct stack *s);

/* The COUNT sites V of P as a list KEY. */
void json_sites(struct json *j, const char *key, const struct profile *p,
                const struct stack *const *v, size_t count);

#endif
