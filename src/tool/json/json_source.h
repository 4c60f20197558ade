/* json_source.h: source lines as JSON. */
#ifndef JSON_JSON_SOURCE_H
#define JSON_JSON_SOURCE_H

#include "analyse/source.h"
#include "util/json_out.h"
#include "view/view.h"

/* Write one document "heaptap-source". */
void json_source(struct json *j, const struct view *v, const struct source *source);

#endif
