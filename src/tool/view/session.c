/* session.c: the processes of a session in one table, for text and JSON. Text has distinctive
 * names, JSON has all fields. */
#include "view/session.h"

/* Return display names for the processes of SET. Store their identities in WHO. */
static const char **
names_of(const struct view_set *set, struct session_who *who, struct arena *arena)
{
    const char **names = arena_array(arena, set->count, sizeof *names);

    for (size_t i = 0; i < set->count; i++)
        who[i] = session_who(set->v[i], arena);
    session_names(who, set->count, arena, names);
    return names;
}

void
session_table(const struct view_set *set, struct table *t, struct counters *ret_total,
              struct errors *ret_errors)
{
    static const struct column columns[] = {
        {COLUMN_COUNT, "pid", NULL, true, NULL},
        {COLUMN_TEXT, NULL, "pid", true, NULL},
        {COLUMN_COUNT, "parent_pid", NULL, true, NULL},
        {COLUMN_TEXT, NULL, "parent", true, NULL},
        {COLUMN_COUNT, "allocations", "allocations", false, NULL},
        {COLUMN_BYTES, "allocated_bytes", "allocated", false, NULL},
        {COLUMN_BYTES, "peak_bytes", "peak", false, NULL},
        {COLUMN_BYTES, "live_bytes", "live", false, NULL},
        {COLUMN_TEXT, NULL, "program", false, session_name_fit},
        {COLUMN_TEXT, "program", NULL, false, NULL},
        {COLUMN_TEXT, "name", NULL, false, NULL},
        {COLUMN_TEXT, "command", NULL, false, NULL},
        {COLUMN_TEXT, "profile", NULL, false, NULL},
    };

    struct session_who *who = arena_array(t->arena, set->count, sizeof *who);
    const char **names = names_of(set, who, t->arena);

    table_begin(t, t->arena, columns, countof(columns));
    for (size_t i = 0; i < set->count; i++) {
        const struct profile *p = set->v[i];
        const struct counters *c = set->totals ? &set->totals[i].counters : &p->totals;

        table_number(t, p->process.pid);
        table_string(t, profile_pid_text(p, t->arena));
        table_number(t, p->process.parent_pid);
        table_string(t, arena_printf(t->arena, "%u", p->process.parent_pid));
        table_number(t, c->allocations);
        table_number(t, c->allocated_bytes);
        table_number(t, c->partial ? TABLE_UNKNOWN : c->peak_bytes);
        table_number(t, counters_live_bytes(c));
        table_string(t, names[i]);
        table_string(t, *who[i].program && p->merged_processes == 0 ? who[i].program : NULL);
        table_string(t, *who[i].comm ? who[i].comm : NULL);
        table_string(t, p->process.command);
        table_string(t, p->path);
        counters_add(ret_total, c);
        errors_add(ret_errors, set->totals ? &set->totals[i].errors : &p->errors);
    }
}
