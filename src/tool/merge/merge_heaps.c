/* merge_heaps.c: merge heaps, sets of labels, and the backing of heaps.
 *
 * Heaps with equal names are merged, and so are sets with equal labels. Heap 0 is malloc and set 0
 * is empty, as in every profile; set 1 represents all sets with unknown labels, as in the file. */
#include "merge/merger.h"

#include <string.h>

#include "util/strbuf.h"

enum {
    // Maximum numbers in a file. All further heaps share one name, and so do all further sets.
    HEAPS_MAX = 1024,
    LABEL_SETS_MAX = 4096,
    LABELS_UNKNOWN = 1,
};

#define HEAPS_BEYOND "other heaps"
#define LABELS_BEYOND "(other labels)"

static uint32_t
new_heap(struct merge *m, uint32_t name)
{
    struct profile *p = m->p;

    arena_grow(&p->arena, &p->heaps, &m->heap_capacity, p->heap_count, sizeof *p->heaps);
    p->heaps[p->heap_count] = (struct profile_heap){.name = strtab_get(&p->strings, name),
                                                    .own = p->heap_count > 0,
                                                    .created_ns = UINT64_MAX,
                                                    .counters = COUNTERS_ZERO,
                                                    .backing = COUNTERS_ZERO};
    return (uint32_t)p->heap_count++;
}

static uint32_t
new_label_set(struct merge *m, const char *text)
{
    struct profile *p = m->p;

    arena_grow(&p->arena, &p->label_sets, &m->label_set_capacity, p->label_set_count,
               sizeof *p->label_sets);
    p->label_sets[p->label_set_count] =
        (struct profile_label_set){.text = text, .counters = COUNTERS_ZERO};
    return (uint32_t)p->label_set_count++;
}

void
merge_heaps_init(struct merge *m)
{
    struct strtab *strings = &m->p->strings;

    new_heap(m, strtab_id(strings, "malloc"));
    new_label_set(m, "");
    new_label_set(m, strtab_get(strings, strtab_id(strings, LABELS_BEYOND)));
}

static uint32_t
heap_at(struct merge *m, const char *name)
{
    struct profile *p = m->p;
    uint32_t id = strtab_id(&p->strings, name);
    uint64_t *known = map_get(&m->heaps, id);

    if (known != NULL)
        return (uint32_t)*known;
    if (p->heap_count + 1 >= HEAPS_MAX)
        id = strtab_id(&p->strings, HEAPS_BEYOND);
    known = map_put(&m->heaps, id, NULL);
    if (*known == 0)
        *known = new_heap(m, id);
    return (uint32_t)*known;
}

/* Add the heap FROM to TO. FROM's process started at START_NS by the wall clock. */
static void
merge_heap(struct profile_heap *to, const struct profile_heap *from, uint64_t start_ns)
{
    if (start_ns + from->created_ns < to->created_ns)
        to->created_ns = start_ns + from->created_ns;
    to->made += from->made;
    to->destroyed += from->destroyed;
    to->resets += from->resets;
    to->collected |= from->collected;
    to->collections += from->collections;
}

/* Append the labels of SET to OUT as one text that is unique to these labels. */
static void
put_key(const struct profile_label_set *set, struct strbuf *out)
{
    for (size_t i = 0; i < set->count; i++)
        strbuf_fmt(out, "%zu %zu %s%s", strlen(set->v[i].key), strlen(set->v[i].value),
                   set->v[i].key, set->v[i].value);
}

static uint32_t
label_set_at(struct merge *m, const struct profile_label_set *from)
{
    struct profile *p = m->p;
    struct profile_label_set *to;
    struct strbuf key = {0};
    uint64_t *known;

    if (from->count == 0)
        return LABELS_UNKNOWN;
    put_key(from, &key);
    known = map_put(&m->label_sets, strtab_id(&m->label_keys, strbuf_text(&key)), NULL);
    strbuf_release(&key);
    if (*known == 0 && p->label_set_count >= LABEL_SETS_MAX)
        *known = LABELS_UNKNOWN;
    if (*known == LABELS_UNKNOWN)
        p->losses.label_sets += (uint64_t)from->counters.allocations;
    if (*known != 0)
        return (uint32_t)*known;
    *known = new_label_set(m, strtab_get(&p->strings, strtab_id(&p->strings, from->text)));
    to = &p->label_sets[*known];
    to->v = arena_array(&p->arena, from->count, sizeof *to->v);
    to->count = from->count;
    for (size_t i = 0; i < from->count; i++)
        to->v[i] = (struct profile_label){
            strtab_get(&p->strings, strtab_id(&p->strings, from->v[i].key)),
            strtab_get(&p->strings, strtab_id(&p->strings, from->v[i].value)),
        };
    return (uint32_t)*known;
}

void
merge_heaps(struct merge *m, struct merge_input *in)
{
    const struct profile *p = in->p;

    in->heaps = arena_array(&in->arena, p->heap_count, sizeof *in->heaps);
    for (size_t i = 1; i < p->heap_count; i++) {
        const struct profile_heap *from = &p->heaps[i];

        // The last heap of each profile represents unknown ones; it is usually unused.
        if (from->made == 0 && from->counters.allocations == 0 && from->counters.frees == 0 &&
            from->backing.allocations == 0 && from->backing.frees == 0)
            continue;
        in->heaps[i] = heap_at(m, from->name);
        merge_heap(&m->p->heaps[in->heaps[i]], from, p->process.start_unix_ns);
    }
    in->label_sets = arena_array(&in->arena, p->label_set_count, sizeof *in->label_sets);
    for (size_t i = 1; i < p->label_set_count; i++)
        in->label_sets[i] = label_set_at(m, &p->label_sets[i]);
}

void
merge_backings(struct merge *m, struct merge_input *in)
{
    struct profile *p = m->p;

    for (size_t i = 0; i < in->p->backing_count; i++) {
        const struct profile_backing *from = &in->p->backings[i];
        uint32_t heap = in->heaps[from->heap], node = in->nodes[from->node];
        uint64_t *known;
        bool is_new;

        // Only damaged files have backings of heaps that do not exist.
        if (heap == 0)
            continue;
        known = map_put(&m->backings, (uint64_t)node << 32 | heap, &is_new);
        if (is_new) {
            arena_grow(&p->arena, &p->backings, &m->backing_capacity, p->backing_count,
                       sizeof *p->backings);
            p->backings[p->backing_count] =
                (struct profile_backing){.heap = heap, .node = node, .counters = COUNTERS_ZERO};
            *known = p->backing_count++;
        }
        counters_add(&p->backings[*known].counters, &from->counters);
    }
}

void
merge_heaps_finish(struct merge *m)
{
    struct profile *p = m->p;

    p->heaps[0].created_ns = 0;
    for (size_t i = 1; i < p->heap_count; i++)
        p->heaps[i].created_ns -= p->process.start_unix_ns;
    profile_sum_heaps(p);
}
