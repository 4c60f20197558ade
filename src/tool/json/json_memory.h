/* json_memory.h: facts that only a process's memory has, as JSON. */
#ifndef JSON_JSON_MEMORY_H
#define JSON_JSON_MEMORY_H

#include "json/json_tables.h"
#include "view/memory_view.h"

/* Write the member "memory": the process or dump that V's profile was read from, and its end.
 * Writes nothing if the profile is a file. */
void json_memory_member(struct json_tables *t, const struct view *v);

/* Write one document "heaptap-memory" with the answers to the queries in M. Lists have at most
 * LIMIT entries. */
void json_memory(struct json *j, const struct view *v, const struct memory_view *m, size_t limit);

#endif
