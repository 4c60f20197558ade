/* json_notes.h: notes on a profile. */
#ifndef JSON_JSON_NOTES_H
#define JSON_JSON_NOTES_H

#include "profile/profile.h"
#include "util/json_out.h"

/* Write the member "notes": notes that tools stored while recording P, and unreadable parts of
 * P. */
void json_notes(struct json *j, const struct profile *p);

#endif
