/* json_leaks.c: write the document "heaptap-leaks": blocks that are still live. */
#include "json/json.h"

#include "json/json_tables.h"

void
json_suppressions(struct json *j, int64_t blocks, int64_t bytes,
                  const struct suppressions *suppressions)
{
    json_object(j, "suppressed");
    json_int(j, "live_blocks", blocks);
    json_int(j, "live_bytes", bytes);
    json_array(j, "by");
    for (size_t i = 0; i < suppressions->count; i++) {
        const struct suppression *s = &suppressions->v[i];

        if (s->counters.allocations == 0)
            continue;
        json_object(j, NULL);
        json_string(j, "pattern", s->pattern);
        json_string(j, "origin", s->origin);
        json_int(j, "live_blocks", counters_live_blocks(&s->counters));
        json_int(j, "live_bytes", counters_live_bytes(&s->counters));
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

void
json_shrunk(struct json *j, const struct view *v, const struct leaks *leaks)
{
    if (v->p->extent != EXTENT_BETWEEN)
        return;
    json_object(j, "shrunk");
    json_int(j, "live_blocks", leaks->shrunk_blocks);
    json_int(j, "live_bytes", leaks->shrunk_bytes);
    json_int(j, "sites", leaks->shrunk_stacks);
    json_end(j);
}

void
json_leaks(struct json *j, const struct view *v, const struct leaks *leaks,
           const struct suppressions *suppressions, size_t limit)
{
    struct json_tables t;

    json_tables_begin(&t, j, v->p, v->arena);
    json_object(j, NULL);
    json_head(j, "heaptap-leaks", v->p, &leaks->all, &leaks->all_errors);
    json_losses(j, v->p);
    json_object(j, "total");
    json_int(j, "live_blocks", counters_live_blocks(&leaks->stacks.total));
    json_int(j, "live_bytes", counters_live_bytes(&leaks->stacks.total));
    json_int(j, "sites", (int64_t)leaks->count);
    if (profile_has_errors(v->p))
        json_errors(j, "", &leaks->stacks.total, &leaks->stacks.errors);
    json_end(j);
    json_shrunk(j, v, leaks);
    json_suppressions(j, leaks->suppressed_blocks, leaks->suppressed_bytes, suppressions);
    json_sites(&t, "leaks", leaks->v, leaks->count < limit ? leaks->count : limit);
    json_tables_end(&t);
    json_end(j);
}
