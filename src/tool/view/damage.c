/* damage.c: the sentences about damaged files, and about processes that a session lacks.
 *
 * Views and gates use the same sentence, so that users can find a view's sentence in the log of a
 * gate. It names the file, because a session has many files. */
#include "view/phrases.h"

/* Return the sentence about DAMAGE of PATH. If SEVERAL, PATH has several profiles; otherwise it is
 * one. */
static const char *
damage_about(struct arena *arena, const char *path, const char *damage, bool several)
{
    return arena_printf(arena, "%s %s; its numbers are incomplete or wrong, so %s", path, damage,
                        several ? "merge whole profiles" : "copy or record it again");
}

const char *
damage_sentence(struct arena *arena, const struct profile *p)
{
    return damage_about(arena, p->path, p->damage, p->merged_processes > 0);
}

const char *
damage_of_profiles(const struct view_set *set, struct arena *arena)
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

const char *
damage_of_set(const struct view_set *set, struct arena *arena)
{
    uint32_t damaged = 0, left_out = set->sum == NULL ? (uint32_t)set->unread_count : 0;

    if (left_out == 0 || set->count == 0)
        return damage_of_profiles(set, arena);
    for (size_t i = 0; i < set->count; i++)
        damaged += set->v[i]->damage != NULL;
    return damage_about(arena, set->path, profile_parts_damage(arena, damaged, left_out), true);
}

const char *
damage_without_point(const struct view_set *set, struct arena *arena)
{
    if (set->without_point == 0 || set->count == 0)
        return NULL;
    return arena_printf(arena, "%zu %s of %s %s left out: the requested moment is not known there",
                        set->without_point, set->without_point == 1 ? "process" : "processes",
                        set->path, set->without_point == 1 ? "is" : "are");
}
