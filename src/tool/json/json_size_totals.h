/* json_size_totals.h: allocation bins as JSON. */
#ifndef JSON_JSON_SIZE_TOTALS_H
#define JSON_JSON_SIZE_TOTALS_H

#include "util/json_out.h"
#include "view/view.h"

/* Write one document "heaptap-bins", with the bins selected and sorted as in text. */
void json_size_totals(struct json *j, const struct view *v, size_t top);

/* Write Lisp objects by class and type, in such a document. */
void json_lisp_size_totals(struct json *j, const struct view *v);

#endif
