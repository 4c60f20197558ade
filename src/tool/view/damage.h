/* damage.h: the sentence about a profile whose file is damaged. */
#ifndef VIEW_DAMAGE_H
#define VIEW_DAMAGE_H

#include "view/session.h"

/* Return the sentence about P, which must be damaged (struct profile), without a full stop. From
 * ARENA. */
const char *damage_sentence(struct arena *arena, const struct profile *p);

/* Return the sentence about the readable profiles of SET, or NULL if none is damaged. From
 * ARENA. */
const char *damage_of_profiles(const struct view_set *set, struct arena *arena);

/* Return the sentence about SET, or NULL if all profiles are whole. If SET lacks unreadable
 * profiles, the sentence is the same as for a merged profile. From ARENA. */
const char *damage_of_set(const struct view_set *set, struct arena *arena);

#endif
