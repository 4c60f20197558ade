/* json_access.h: accesses as JSON. docs/json.md is the contract. */
#ifndef JSON_JSON_ACCESS_H
#define JSON_JSON_ACCESS_H

#include "analyse/access_sites.h"
#include "util/json_out.h"
#include "view/view.h"

/* Write one document "heaptap-access": the first LIMIT of the rows of T that PICK selects. */
void json_access(struct json *j, const struct view *v, const struct access_table *t,
                 enum access_pick pick, size_t limit);

/* Write the member "counting": how P's accesses were counted, and their losses; null if they were
 * not counted. */
void json_counting(struct json *j, const struct profile *p);

#endif
