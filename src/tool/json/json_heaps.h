/* json_heaps.h: heaps and labels as JSON. */
#ifndef JSON_JSON_HEAPS_H
#define JSON_JSON_HEAPS_H

#include "json/json_tables.h"
#include "view/view.h"

/* Write "heaps", malloc and the program's own, and "labels"; both cover the whole process. */
void json_heaps(struct json *j, const struct profile *p);
void json_label_sets(struct json *j, const struct profile *p);

/* Write "backings": the stacks of the blocks that back heaps. */
void json_backings(struct json_tables *t, const struct view *v);

#endif
