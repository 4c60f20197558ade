/* json_memory.h: what only the memory of a process knows, as JSON. */
#ifndef JSON_JSON_MEMORY_H
#define JSON_JSON_MEMORY_H

#include "util/json_out.h"
#include "view/memory_view.h"

/* One document "heaptap-memory" with the answer to what M asks, of lists at most LIMIT entries. */
void json_memory(struct json *j, const struct view *v, const struct memory_view *m, size_t limit);

#endif
