/* json_rawdump.c: write the member "memory" of a report about copies of memory.
 *
 *     "memory": {"word_bytes": 4, "big_endian": false, "blocks": 137, …, "refused": {"copies": 2},
 *                "parts": [{"name": "ram.bin", "base": "0x20000000", …}],
 *                "sizes": [{"stack": 3, "sizes": [[1023, 4], [1025, 4]]}, …], "damage": [{…}]} */
#include "json/json.h"

#include "json/json_tables.h"

static void
json_rawdump_put_parts(struct json *j, const struct annotated_memory *m)
{
    json_array(j, "parts");
    for (size_t i = 0; i < m->part_count; i++) {
        json_object_line(j, NULL);
        json_string(j, "name", m->parts[i].name);
        json_address(j, "base", m->parts[i].base);
        json_uint(j, "base_bits", annotated_base_is_whole(m, (uint32_t)i) ? 64 : 32);
        json_bool(j, "base_was_given", m->parts[i].base_known);
        json_uint(j, "bytes", m->parts[i].size);
        json_end(j);
    }
    json_end(j);
}

static void
put_refused(struct json *j, const struct annotated_memory *m)
{
    json_object(j, "refused");
    for (uint32_t i = 0; i < REFUSALS; i++)
        json_uint(j, annotated_refusal_name((enum refusal)i), m->refused[i]);
    json_end(j);
}

static void
json_rawdump_put_sizes(struct json_tables *t, const struct view *v,
                       const struct annotated_view *found)
{
    struct json *j = t->j;

    json_array(j, "sizes");
    for (size_t i = 0; i < v->stacks->count; i++) {
        const struct annotated_sizes *list = &found->sizes[i];

        json_object_line(j, NULL);
        json_stack(t, "stack", &v->stacks->v[i]);
        if (list->has_birth) {
            json_uint(j, "first_birth", list->birth_first);
            json_uint(j, "last_birth", list->birth_last);
        }
        json_array(j, "sizes");
        for (size_t k = 0; k < list->count; k++) {
            json_array(j, NULL);
            json_uint(j, NULL, list->v[k].size);
            json_uint(j, NULL, list->v[k].count);
            json_end(j);
        }
        json_end(j);
        json_end(j);
    }
    json_end(j);
}

static void
json_rawdump_put_block(struct json_tables *t, const struct view *v,
                       const struct annotated_view *found, const char *name,
                       const struct annotated_block *b)
{
    struct stack stack = stack_of_node(v->p, found->places->node_of[b->stack], v->arena);

    json_object(t->j, name);
    json_address(t->j, "address", annotated_address(found->memory, b));
    json_uint(t->j, "bytes", b->size);
    json_stack(t, "stack", &stack);
    json_end(t->j);
}

static void
json_rawdump_put_corruption(struct json_tables *t, const struct view *v,
                            const struct annotated_view *found)
{
    const struct annotated_memory *m = found->memory;

    json_array(t->j, "damage");
    for (size_t i = 0; i < m->corruption_count; i++) {
        const struct annotated_corruption *d = &m->corruptions[i];

        json_object(t->j, NULL);
        json_string(t->j, "kind", annotated_corruption_name(d->kind));
        if (d->kind == CORRUPTION_PAST_END)
            json_uint(t->j, "first_byte", d->block.size + d->block.guard_changed);
        json_rawdump_put_block(t, v, found, "block", &d->block);
        json_bool(t->j, "beginning_is_lost", d->block.head_bytes == 0);
        if (d->front != 0)
            json_rawdump_put_block(t, v, found, "in_front", &m->v[d->front - 1]);
        json_end(t->j);
    }
    json_end(t->j);
}

void
json_rawdump(const void *arg, const struct view *v, struct json_tables *t)
{
    const struct annotated_view *found = arg;
    const struct annotated_memory *m = found->memory;

    json_object(t->j, "memory");
    json_uint(t->j, "word_bytes", annotation_word_bytes(m->kind));
    json_bool(t->j, "big_endian", annotation_is_big(m->kind));
    json_uint(t->j, "blocks", m->count);
    json_uint(t->j, "bytes", m->bytes);
    json_uint(t->j, "blocks_cut_off", m->cut_off);
    json_uint(t->j, "looked_at_bytes", m->read_bytes);
    json_uint(t->j, "hole_bytes", m->hole_bytes);
    put_refused(t->j, m);
    json_rawdump_put_parts(t->j, m);
    json_rawdump_put_sizes(t, v, found);
    json_rawdump_put_corruption(t, v, found);
    json_end(t->j);
}
