/* json_timeline.h: live bytes of stacks over time, as JSON. */
#ifndef JSON_JSON_TIMELINE_H
#define JSON_JSON_TIMELINE_H

#include "analyse/timeline.h"
#include "util/json_out.h"
#include "view/view.h"

/* Write one document "heaptap-timeline". */
void json_timeline(struct json *j, const struct view *v, const struct timeline *t);

#endif
