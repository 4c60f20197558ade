/* json_heaps.c: write malloc, the heaps that a program created itself, their backing, and
 * labels. */
#include "json/json_tables.h"

#include "view/view.h"

/* Return true if P has any data on heap I. */
static bool
json_heaps_is_known(const struct profile *p, size_t i)
{
    const struct profile_heap *h = &p->heaps[i];

    return i == 0 || h->made != 0 || h->counters.allocations != 0 || h->counters.frees != 0 ||
           h->backing.allocations != 0;
}

void
json_heaps(struct json *j, const struct profile *p)
{
    json_array(j, "heaps");
    for (size_t i = 0; i < p->heap_count; i++) {
        const struct profile_heap *h = &p->heaps[i];

        if (!json_heaps_is_known(p, i))
            continue;
        json_object(j, NULL);
        json_string(j, "heap", h->name);
        json_uint(j, "created_ns", h->created_ns);
        json_uint(j, "made", h->made);
        json_uint(j, "destroyed", h->destroyed);
        json_uint(j, "resets", h->resets);
        json_bool(j, "collected", h->collected);
        json_uint(j, "collections", h->collections);
        json_uint(j, "collected_ns", h->collected_ns);
        json_counters(j, &h->counters);
        if (p->extent == EXTENT_WHOLE) {
            json_object(j, "backing");
            json_counters(j, &h->backing);
            json_end(j);
        } else {
            json_string(j, "backing", NULL);
        }
        json_end(j);
    }
    json_end(j);
}

void
json_backings(struct json_tables *t, const struct view *v)
{
    struct json *j = t->j;
    const struct profile_backing **all;
    size_t count;

    all = backing_sorted(v, &(struct tag_picks){0}, &count);
    json_array(j, "backings");
    for (size_t i = 0; i < count; i++) {
        struct stack stack = stack_of_node(v->p, all[i]->node, v->arena);

        json_object(j, NULL);
        json_string(j, "heap", v->p->heaps[all[i]->heap].name);
        json_counters(j, &all[i]->counters);
        json_stack(t, "stack", &stack);
        json_end(j);
    }
    json_end(j);
}

void
json_label_sets(struct json *j, const struct profile *p)
{
    json_array(j, "labels");
    for (size_t i = 0; i < p->label_set_count; i++) {
        const struct profile_label_set *set = &p->label_sets[i];

        if (set->counters.allocations == 0 && set->counters.frees == 0)
            continue;
        json_object(j, NULL);
        json_labels(j, set);
        json_counters(j, &set->counters);
        json_end(j);
    }
    json_end(j);
}
