/* json_memory.h: what only the memory of a process knows, as JSON. */
#ifndef JSON_JSON_MEMORY_H
#define JSON_JSON_MEMORY_H

#include "json/json_tables.h"
#include "view/memory_view.h"

/* "memory": what V's profile was made of, and what that died of; nothing if it is of a file. */
void json_memory_member(struct json_tables *t, const struct view *v);

/* One document "heaptap-memory" with the answer to what M asks, of lists at most LIMIT entries. */
void json_memory(struct json *j, const struct view *v, const struct memory_view *m, size_t limit);

#endif
