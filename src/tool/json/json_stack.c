/* json_stack.c: write stacks, and sites with their stacks, as indices into the document's tables or
 * nested.
 *
 * Both layouts have equal members and values; test/run/tools/layouts.sh compares them for every
 * view. So a new member of a site must be added to both. */
#include "json/json_tables.h"

static void
nested_frame(struct json *j, const struct profile *p, uint32_t frame, uint32_t location)
{
    const struct profile_frame *f = &p->frames[frame];
    const struct profile_location *l = &p->locations[location];
    uint64_t bias = p->modules[l->module].bias;

    json_known(j, "function", profile_string(p, f->function));
    json_known(j, "file", profile_string(p, f->file));
    if (f->line)
        json_uint(j, "line", f->line);
    else
        json_string(j, "line", NULL);
    json_known(j, "module", p->modules[f->module].path);
    json_bool(j, "inlined", f->inlined);
    if (f->language != 0) {
        json_string(j, "address", NULL);
        json_string(j, "offset", NULL);
        json_string(j, "language", profile_string(p, f->language));
        return;
    }
    json_address(j, "address", l->address);
    json_address(j, "offset", l->address - bias);
    if (f->function == 0 && l->function_start != 0)
        json_address(j, "function_offset", l->function_start - bias);
}

static void
json_flags(struct json *j, uint32_t flags)
{
    json_bool(j, "other", (flags & NODE_OTHER) != 0);
    json_bool(j, "truncated", (flags & (NODE_TRUNCATED | NODE_CALLERLESS)) != 0);
    json_bool(j, "shortened", (flags & NODE_SHORTENED) != 0);
    json_bool(j, "guessed", (flags & NODE_GUESSED) != 0);
    json_bool(j, "broken", (flags & NODE_BROKEN) != 0);
}

void
json_frame(struct json_tables *t, uint32_t frame, uint32_t location)
{
    if (json_is_nested(t->j))
        nested_frame(t->j, t->p, frame, location);
    else
        json_uint(t->j, "frame", json_tables_frame(t, frame, location));
}

void
json_stack(struct json_tables *t, const char *key, const struct stack *s)
{
    struct json *j = t->j;

    if (!json_is_nested(j)) {
        json_uint(j, key, json_tables_stack(t, s));
        return;
    }
    json_array(j, key);
    for (uint32_t i = 0; i < s->depth; i++) {
        json_object_line(j, NULL);
        nested_frame(j, t->p, s->frames[i], s->locations[i]);
        json_end(j);
    }
    json_end(j);
}

/* Write the heap and the labels of S. */
static void
site_tags(struct json_tables *t, const struct stack *s)
{
    const struct profile *p = t->p;

    if (json_is_nested(t->j)) {
        json_string(t->j, "heap", p->heaps[s->heap].name);
        if (s->labels != STACK_LABELS_SEVERAL)
            json_labels(t->j, &p->label_sets[s->labels]);
        return;
    }
    json_uint(t->j, "heap", json_tables_heap(t, s->heap));
    if (s->labels != STACK_LABELS_SEVERAL)
        json_uint(t->j, "labels", json_tables_labels(t, s->labels));
    else
        json_string(t->j, "labels", NULL);
}

/* Write the number and the frame of user code of S, which the nested layout lacks. */
static void
site_meaning(struct json_tables *t, const struct stack *s)
{
    if (s->number != 0)
        json_uint(t->j, "number", s->number);
    else
        json_string(t->j, "number", NULL);
    if (s->depth != 0) {
        uint32_t own = user_code_frame_unfolded(&t->own, s);

        json_uint(t->j, "own", json_tables_frame(t, s->frames[own], s->locations[own]));
    } else {
        json_string(t->j, "own", NULL);
    }
}

/* Write the members of site S into the open object or row. */
static void
site(struct json_tables *t, const struct stack *s)
{
    struct json *j = t->j;

    json_counters(j, &s->counters);
    if (profile_has_errors(t->p))
        json_errors(j, "", &s->counters, s->errors);
    json_estimated(j, t->p, "", s->errors);
    site_tags(t, s);
    json_flags(j, s->flags);
    json_stack(t, "stack", s);
    if (!json_is_nested(j))
        site_meaning(t, s);
}

void
json_sites(struct json_tables *t, const char *key, const struct stack *const *v, size_t count)
{
    json_sites_more(t, key, v, count, NULL, NULL);
}

void
json_sites_more(struct json_tables *t, const char *key, const struct stack *const *v,
                size_t count, json_site_more *more, const void *arg)
{
    struct json *j = t->j;
    const struct stack none = {.counters = COUNTERS_ZERO};

    t->has_sites = true;
    if (json_is_nested(j))
        json_array(j, key);
    else
        json_columns(j, key);
    for (size_t i = 0; i < count; i++) {
        if (json_is_nested(j))
            json_object(j, NULL);
        else
            json_row(j);
        site(t, v[i]);
        if (more != NULL)
            more(t, i, arg);
        json_end(j);
    }
    if (json_is_nested(j)) {
        json_end(j);
        return;
    }
    if (count == 0) {
        json_row(j);
        site(t, &none);
        if (more != NULL)
            more(t, SIZE_MAX, arg);
        json_end(j);
    }
    json_columns_end(j, count);
}
