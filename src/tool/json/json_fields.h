/* json_fields.h: structures and the use of their members, as JSON. docs/json.md is the contract. */
#ifndef JSON_JSON_FIELDS_H
#define JSON_JSON_FIELDS_H

#include "analyse/fields.h"
#include "util/json_out.h"
#include "view/view.h"

/* Write one document "heaptap-fields": the first LIMIT structures of F. */
void json_fields(struct json *j, const struct view *v, const struct fields *f, size_t limit);

#endif
