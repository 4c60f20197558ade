/* json_stack.c: stacks, and sites with theirs, innermost frame first. */
#include "json/json_stack.h"

#include <inttypes.h>
#include <stdio.h>

#include "json/json_members.h"

void
json_frame(struct json *j, const struct profile *p, uint32_t frame, uint32_t location)
{
    const struct profile_frame *f = &p->frames[frame];
    const struct profile_location *l = &p->locations[location];
    char address[32];

    json_known(j, "function", profile_string(p, f->function));
    json_known(j, "file", profile_string(p, f->file));
    if (f->line)
        json_uint(j, "line", f->line);
    else
        json_string(j, "line", NULL);
    json_known(j, "module", p->modules[f->module].path);
    json_bool(j, "inlined", f->inlined);
    snprintf(address, sizeof address, "0x%" PRIx64, l->address);
    json_string(j, "address", address);
    snprintf(address, sizeof address, "0x%" PRIx64, l->address - p->modules[l->module].bias);
    json_string(j, "offset", address);
}

static void
json_flags(struct json *j, uint32_t flags)
{
    json_bool(j, "other", (flags & NODE_OTHER) != 0);
    json_bool(j, "truncated", (flags & NODE_TRUNCATED) != 0);
    json_bool(j, "guessed", (flags & NODE_GUESSED) != 0);
    json_bool(j, "broken", (flags & NODE_BROKEN) != 0);
}

void
json_stack(struct json *j, const char *key, const struct profile *p, const struct stack *s)
{
    json_array(j, key);
    for (uint32_t i = 0; i < s->depth; i++) {
        json_object_line(j, NULL);
        json_frame(j, p, s->frames[i], s->locations[i]);
        json_end(j);
    }
    json_end(j);
}

void
json_sites(struct json *j, const char *key, const struct profile *p, const struct stack *const *v,
           size_t count)
{
    json_array(j, key);
    for (size_t i = 0; i < count; i++) {
        json_object(j, NULL);
        json_counters(j, &v[i]->counters);
        if (profile_has_errors(p))
            json_errors(j, "", &v[i]->counters, &v[i]->errors);
        json_string(j, "heap", p->heaps[v[i]->heap].name);
        if (v[i]->labels != STACK_LABELS_SEVERAL)
            json_labels(j, &p->label_sets[v[i]->labels]);
        json_flags(j, v[i]->flags);
        json_stack(j, "stack", p, v[i]);
        json_end(j);
    }
    json_end(j);
}
