/* json_paths.c: write live blocks by partial path, as one document "heaptap-leak-paths". */
#include "json/json.h"

#include "json/json_tables.h"
#include "view/phrases.h"

static void
json_path(struct json *j, const struct view *v, const struct leak_paths *l, const struct path *path)
{
    const uint32_t *functions;

    functions_of_stack(l->functions, path->stack, &functions);
    json_array(j, "path");
    for (uint32_t i = path->depth; i-- > 0;)
        json_string(j, NULL, functions_label(l->functions, functions[i]));
    json_end(j);
    json_bool(j, "cut", path->cut);
    json_string(j, "heap", v->p->heaps[path->stack->heap].name);
    if (!l->call_sites)
        return;
    json_array(j, "call_sites");
    for (uint32_t i = path->depth; i-- > 0;) {
        struct arena scratch = {0};
        const char *site = phrase_call_site(v->p, path, i, functions[i], &scratch);

        json_string(j, NULL, *site ? site : NULL);
        arena_release(&scratch);
    }
    json_end(j);
}

void
json_paths(struct json *j, const struct view *v, const struct leak_paths *l, size_t limit)
{
    const struct counters *total = &l->leaks->stacks.total;

    json_object(j, NULL);
    json_head(j, "heaptap-leak-paths", v->p, &l->leaks->all, &l->leaks->all_errors);
    json_losses(j, v->p);
    json_object(j, "total");
    json_int(j, "live_blocks", counters_live_blocks(total));
    json_int(j, "live_bytes", counters_live_bytes(total));
    json_int(j, "paths", (int64_t)l->paths->count);
    json_end(j);
    json_shrunk(j, v, l->leaks);
    json_suppressions(j, l->leaks->suppressed_blocks, l->leaks->suppressed_bytes,
                      l->suppressions);
    json_array(j, "leaks");
    for (size_t i = 0; i < l->paths->count && i < limit; i++) {
        const struct counters *c = &l->paths->v[i].counters;
        int64_t bytes = counters_live_bytes(c), whole = counters_live_bytes(total);

        json_object(j, NULL);
        json_int(j, "allocs", counters_live_blocks(c));
        json_int(j, "bytes", bytes);
        json_double(j, "percent", whole > 0 ? 100.0 * (double)bytes / (double)whole : 0.0);
        json_path(j, v, l, &l->paths->v[i]);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}
