/* tags.c: look up the heaps and labels of a profile by name.
 *
 * There are at most some thousands of each, so a filter is evaluated once per heap and label set,
 * into an array of results. The labels of a set may be unknown, because there were too many or the
 * file lacks them. Such a set matches no label, but has a name in every table, so that no bytes
 * disappear. */
#include "analyse/tags.h"

#include <fnmatch.h>
#include <string.h>

const char *
tags_value(const struct profile_label_set *set, const char *key)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->v[i].key, key) == 0)
            return set->v[i].value;
    return set->count == 0 && *set->text != '\0' ? set->text : NULL;
}

static bool
set_matches(const struct profile_label_set *set, const char *key, const char *pattern)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->v[i].key, key) == 0)
            return pattern == NULL || fnmatch(pattern, set->v[i].value, 0) == 0;
    return false;
}

void
tags_pick(const struct profile *p, const struct tag_filter *filter, struct arena *arena,
          struct tag_picks *ret)
{
    *ret = (struct tag_picks){0};
    if (filter->heap != NULL) {
        bool *picked = arena_array(arena, p->heap_count, sizeof *picked);

        for (size_t i = 0; i < p->heap_count; i++)
            picked[i] = fnmatch(filter->heap, p->heaps[i].name, 0) == 0;
        ret->heaps = picked;
    }
    if (filter->label != NULL) {
        bool *picked = arena_array(arena, p->label_set_count, sizeof *picked);
        size_t key_length = strcspn(filter->label, "=");
        const char *key = arena_strndup(arena, filter->label, key_length);
        const char *pattern = filter->label[key_length] ? filter->label + key_length + 1 : NULL;

        for (size_t i = 0; i < p->label_set_count; i++)
            picked[i] = set_matches(&p->label_sets[i], key, pattern);
        ret->label_sets = picked;
    }
}

static bool
tags_is_used(const struct counters *c)
{
    return c->allocations != 0 || c->frees != 0;
}

bool
tags_has_heaps(const struct profile *p)
{
    for (size_t i = 1; i < p->heap_count; i++)
        if (p->heaps[i].made != 0 || tags_is_used(&p->heaps[i].counters) ||
            tags_is_used(&p->heaps[i].backing))
            return true;
    return false;
}

bool
tags_has_labels(const struct profile *p)
{
    for (size_t i = 1; i < p->label_set_count; i++)
        if (tags_is_used(&p->label_sets[i].counters))
            return true;
    return false;
}

const char *
tags_text(const struct profile_heap *heap, const struct profile_label_set *labels,
          struct arena *arena)
{
    const char *of_labels = labels ? labels->text : "with different labels";

    if (!heap->own)
        return of_labels;
    return arena_printf(arena, "[heap %s]%s%s", heap->name, *of_labels ? "  " : "", of_labels);
}

static const char *
value_root(const struct profile_label_set *set, const char *key, struct arena *arena)
{
    const char *value = tags_value(set, key);

    if (value == NULL)
        return arena_printf(arena, "[without %s]", key);
    return arena_printf(arena, set->count > 0 ? "[%s=%s]" : "[%s: %s]", key, value);
}

const char *
tags_root(const struct profile *p, const struct tag_roots *roots, uint32_t heap, uint32_t labels,
          struct arena *arena)
{
    const struct profile_label_set *set = &p->label_sets[labels < p->label_set_count ? labels : 0];

    switch (roots->by) {
    case ROOT_HEAP:
        return arena_printf(arena, p->heaps[heap].own ? "[heap %s]" : "[%s]", p->heaps[heap].name);
    case ROOT_LABELS:
        return arena_printf(arena, "[%s]", *set->text ? set->text : "without labels");
    case ROOT_VALUE:
        return value_root(set, roots->key, arena);
    case ROOT_NONE:
        break;
    }
    return NULL;
}
