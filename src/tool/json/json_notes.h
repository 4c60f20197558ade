/* json_notes.h: what there is to note about a profile. */
#ifndef JSON_JSON_NOTES_H
#define JSON_JSON_NOTES_H

#include "profile/profile.h"
#include "util/json_out.h"

/* The member "notes": what tools noted when P was recorded, and what of P could not be read. */
void json_notes(struct json *j, const struct profile *p);

#endif
