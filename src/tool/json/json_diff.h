/* json_diff.h: comparison as JSON. */
#ifndef JSON_JSON_DIFF_H
#define JSON_JSON_DIFF_H

#include "util/json_out.h"
#include "view/diff_view.h"

/* Write one document "heaptap-diff". */
void json_diff(struct json *j, const struct diff_view *v);

#endif
