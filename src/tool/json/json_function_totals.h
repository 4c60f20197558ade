/* json_function_totals.h: memory that each function allocates itself, as JSON. */
#ifndef JSON_JSON_FUNCTION_TOTALS_H
#define JSON_JSON_FUNCTION_TOTALS_H

#include "analyse/function_totals.h"
#include "util/json_out.h"
#include "view/view.h"

/* Write one document "heaptap-direct" with at most LIMIT functions. */
void json_function_totals(struct json *j, const struct view *v, const struct functions *f,
                          const struct function_totals *d, enum metric metric, size_t limit);

#endif
