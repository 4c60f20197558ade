/* json_resident.c: write the member "resident" of the document "heaptap-memory".
 *
 *     {"rss_bytes": 64126976, …, "parts": [{"name": "live", "bytes": 31560704}, …], …} */
#include "json/json_tables.h"
#include "view/phrases.h"

static void
json_resident_put_heaps(struct json *j, const struct resident *r)
{
    json_array(j, "arenas");
    for (size_t i = 0; i < r->heap_count; i++) {
        json_object_line(j, NULL);
        json_address(j, "start", r->heaps[i].start);
        json_address(j, "end", r->heaps[i].end);
        json_bool(j, "main", r->heaps[i].is_main);
        json_uint(j, "resident_bytes", r->heaps[i].resident_bytes);
        json_uint(j, "free_bytes", r->heaps[i].free_bytes);
        json_uint(j, "trim_bytes", r->heaps[i].trim_bytes);
        json_end(j);
    }
    json_end(j);
}

static void
json_resident_put_mappings(struct json *j, const struct resident *r, size_t limit)
{
    json_array(j, "mappings");
    for (size_t i = 0; i < r->mapping_count && i < limit; i++) {
        json_object_line(j, NULL);
        json_address(j, "start", r->mappings[i].start);
        json_address(j, "end", r->mappings[i].end);
        json_uint(j, "resident_bytes", r->mappings[i].resident_bytes);
        json_known(j, "name", *r->mappings[i].name != '\0' ? r->mappings[i].name : NULL);
        json_end(j);
    }
    json_end(j);
}

static void
json_resident_put_backings(struct json *j, const struct resident *r)
{
    json_array(j, "heaps");
    for (size_t i = 0; i < r->backing_count; i++) {
        json_object_line(j, NULL);
        json_string(j, "name", r->backings[i].name);
        json_int(j, "object_bytes", r->backings[i].object_bytes);
        json_int(j, "backing_bytes", r->backings[i].backing_bytes);
        json_end(j);
    }
    json_end(j);
}

static void
json_resident_put_pins(struct json_tables *t, const struct view *v, const struct memory_view *m,
                       size_t limit)
{
    const struct resident *r = &m->answer->resident;
    struct json *j = t->j;
    struct stack stack;

    json_array(j, "pins");
    for (size_t i = 0; i < r->pin_count && i < limit; i++) {
        json_object(j, NULL);
        json_uint(j, "blocks", r->pins[i].blocks);
        json_uint(j, "bytes", r->pins[i].bytes);
        json_uint(j, "returned_bytes", r->pins[i].returned_bytes);
        if (memory_view_stack(v, m->e, r->pins[i].site, &stack))
            json_stack(t, "stack", &stack);
        json_end(j);
    }
    json_end(j);
}

static void
json_resident_put_rows(struct json_tables *t, const struct memory_view *m, size_t limit)
{
    struct json *j = t->j;

    if (m->resident == NULL)
        return;
    json_array(j, "rows");
    for (size_t i = 0; i < m->resident_count && i < limit; i++) {
        json_object(j, NULL);
        json_string(j, "name", m->resident[i].name);
        json_uint(j, "blocks", m->resident[i].blocks.blocks);
        json_uint(j, "bytes", m->resident[i].blocks.bytes);
        json_uint(j, "resident_bytes", m->resident[i].resident_bytes);
        if (m->resident[i].stack != NULL)
            json_stack(t, "stack", m->resident[i].stack);
        json_end(j);
    }
    json_end(j);
}

void
json_resident(struct json_tables *t, const struct view *v, const struct memory_view *m,
              size_t limit)
{
    const struct resident *r = &m->answer->resident;
    struct json *j = t->j;

    json_object(j, "resident");
    json_bool(j, "recorded", !m->e->unrecorded);
    json_uint(j, "rss_bytes", r->rss_bytes);
    json_uint(j, "stopped_ns", m->e->stopped_ns);
    json_array(j, "parts");
    for (size_t i = 0; i < RESIDENT_PARTS; i++) {
        json_object_line(j, NULL);
        json_string(j, "name", resident_part_name((enum resident_part)i));
        json_uint(j, "bytes", r->parts[i]);
        json_end(j);
    }
    json_end(j);
    json_uint(j, "pss_bytes", r->proportional_bytes);
    json_uint(j, "swapped_bytes", r->swapped_bytes);
    json_uint(j, "huge_page_bytes", r->huge_bytes);
    json_uint(j, "trim_bytes", r->trim_bytes);
    json_uint(j, "control_group_bytes", r->group_bytes);
    json_known(j, "advice", resident_advice(v->arena, r));
    json_resident_put_backings(j, r);
    json_resident_put_heaps(j, r);
    json_resident_put_mappings(j, r, limit);
    json_resident_put_pins(t, v, m, limit);
    json_resident_put_rows(t, m, limit);
    json_end(j);
}
