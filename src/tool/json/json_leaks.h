/* json_leaks.h: live blocks as JSON. */
#ifndef JSON_JSON_LEAKS_H
#define JSON_JSON_LEAKS_H

#include "analyse/leaks.h"
#include "util/json_out.h"
#include "view/view.h"

/* Write one document "heaptap-leaks" with at most LIMIT sites. */
void json_leaks(struct json *j, const struct view *v, const struct leaks *leaks,
                const struct suppressions *suppressions, size_t limit);

/* Write "suppressed": the blocks that each suppression hid. */
void json_suppressions(struct json *j, const struct leaks *leaks,
                       const struct suppressions *suppressions);

#endif
