/* json_session.c: write the document "heaptap-session", which encloses the documents of several
 * processes. It has the totals of all, a row per process, and the list of documents. */
#include "json/json.h"

#include "json/json_tables.h"
#include "view/phrases.h"

/* All that makes SET's numbers unreliable, or NULL. */
static const char *
damage_of_all(const struct view_set *set, struct arena *arena)
{
    const char *damage = damage_of_set(set, arena), *lacks = damage_without_point(set, arena);

    if (damage == NULL || lacks == NULL)
        return damage != NULL ? damage : lacks;
    return arena_printf(arena, "%s; %s", damage, lacks);
}

static bool
session_has_errors(const struct view_set *set)
{
    size_t i = 0;

    while (i < set->count && !profile_has_errors(set->v[i]))
        i++;
    return i < set->count;
}

static void
json_session_put_head(struct json *j, const struct view_set *set, struct arena *arena,
                      const struct counters *total, const struct errors *errors)
{
    json_object(j, NULL);
    json_string(j, "format", "heaptap-session");
    json_uint(j, "version", j->version);
    json_string(j, "damage", damage_of_all(set, arena));
    json_uint(j, "left_out", set_left_out(set));
    json_object(j, "totals");
    json_counters(j, total);
    if (session_has_errors(set))
        json_errors(j, "", total, errors);
    json_end(j);
}

void
json_session_begin(struct json *j, const struct view_set *set, struct arena *arena)
{
    struct counters total = COUNTERS_ZERO;
    struct errors errors = {0};
    struct table t = {.arena = arena};

    session_table(set, &t, &total, &errors);
    json_session_put_head(j, set, arena, &total, &errors);
    table_json(&t, j, "processes", SIZE_MAX);
    json_array(j, "profiles");
}

void
json_session_end(struct json *j)
{
    json_end(j);
    json_end(j);
}
