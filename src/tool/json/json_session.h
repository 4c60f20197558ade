/* json_session.h: a session as JSON. */
#ifndef JSON_JSON_SESSION_H
#define JSON_JSON_SESSION_H

#include "util/json_out.h"
#include "view/session.h"

/* Begin a document about SET. Its list "profiles" stays open for the documents of its processes.
 * Temporary data is from ARENA. */
void json_session_begin(struct json *j, const struct view_set *set, struct arena *arena);

/* Close the list and the document. */
void json_session_end(struct json *j);

#endif
