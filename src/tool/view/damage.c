/* damage.c: the sentence about a profile whose file is damaged.
 *
 * Views and gates use the same sentence, so that a user finds a view's line in the log of a gate.
 * It names the file, because a session has many. */
#include "view/damage.h"

const char *
damage_sentence(struct arena *arena, const struct profile *p)
{
    return arena_printf(arena, "%s %s; its numbers are incomplete or wrong, so %s", p->path,
                        p->damage,
                        p->merged_processes > 0 ? "merge whole profiles"
                                                : "copy or record it again");
}

const char *
damage_of_set(const struct view_set *set, struct arena *arena)
{
    const struct profile *first = NULL;
    size_t count = 0;

    for (size_t i = 0; i < set->count; i++) {
        if (set->v[i]->damage == NULL)
            continue;
        first = first != NULL ? first : set->v[i];
        count++;
    }
    if (count < 2)
        return first != NULL ? damage_sentence(arena, first) : NULL;
    return arena_printf(arena, "%zu profiles are damaged; %s", count,
                        damage_sentence(arena, first));
}
