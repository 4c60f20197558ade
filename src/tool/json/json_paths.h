/* json_paths.h: live blocks by partial path, as JSON. */
#ifndef JSON_JSON_PATHS_H
#define JSON_JSON_PATHS_H

#include "util/json_out.h"
#include "view/leak_paths.h"
#include "view/view.h"

/* Write one document "heaptap-leak-paths" with at most LIMIT paths. */
void json_paths(struct json *j, const struct view *v, const struct leak_paths *l, size_t limit);

#endif
