/* json_memory.h: facts that only a process's memory has, as JSON. */
#ifndef JSON_JSON_MEMORY_H
#define JSON_JSON_MEMORY_H

#include "json/json_tables.h"
#include "view/memory_view.h"

/* Write the member "memory": the process or dump that V's profile was read from, and how it ended;
 * nothing if the profile is a file. */
void json_memory_member(struct json_tables *t, const struct view *v);

/* Write one document "heaptap-memory" that answers the queries in M, with lists of at most LIMIT
 * entries. */
void json_memory(struct json *j, const struct view *v, const struct memory_view *m, size_t limit);

#endif
