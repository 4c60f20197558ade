/* json_rawdump.h: blocks found in copies of memory, as JSON. */
#ifndef JSON_JSON_RAWDUMP_H
#define JSON_JSON_RAWDUMP_H

#include "json/json_tables.h"
#include "view/annotated_view.h"
#include "view/view.h"

/* Write the member "memory" of a report. FOUND is a struct annotated_view. */
void json_rawdump(const void *found, const struct view *v, struct json_tables *t);

#endif
