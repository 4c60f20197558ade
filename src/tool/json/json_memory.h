/* json_memory.h: facts that only a process's memory has, as JSON. */
#ifndef JSON_JSON_MEMORY_H
#define JSON_JSON_MEMORY_H

#include "json/json_tables.h"
#include "view/memory_view.h"

/* "memory": what V's profile was made of, and what that died of; nothing if it is of a file. */
void json_memory_member(struct json_tables *t, const struct view *v);

/* One document "heaptap-memory" that answers the queries in M, with lists of at most LIMIT
 * entries. */
void json_memory(struct json *j, const struct view *v, const struct memory_view *m, size_t limit);

#endif
