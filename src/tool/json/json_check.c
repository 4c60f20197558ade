/* json_check.c: write the member "check" of the document "heaptap-memory".
 *
 *     {"annotated": true, "looked_at": 1234, …, "damaged": [{"kind": "past_end", …}]} */
#include "json/json_tables.h"

static const char *
hex(struct arena *arena, const uint8_t *bytes, uint32_t count)
{
    char *text = arena_array(arena, 2 * (size_t)count + 1, 1);

    for (uint32_t i = 0; i < count; i++) {
        text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
}

void
json_check(struct json_tables *t, const struct view *v, const struct memory_view *m, size_t limit,
           json_check_block *put_block)
{
    static const char *const kinds[] = {[CHECK_PAST_END] = "past_end",
                                        [CHECK_BEFORE_START] = "before_start",
                                        [CHECK_OVERWRITTEN] = "overwritten"};
    const struct checked *c = &m->answer->checked;
    struct json *j = t->j;

    json_object(j, "check");
    json_bool(j, "possible", c->possible);
    json_bool(j, "annotated", c->annotated);
    json_uint(j, "looked_at", c->looked);
    json_uint(j, "not_there", c->unknown);
    json_uint(j, "without_annotation", c->unmarked);
    json_uint(j, "damaged_blocks", c->count);
    json_array(j, "damaged");
    for (size_t i = 0; i < c->count && i < limit; i++) {
        const struct check_corruption *d = &c->v[i];

        json_object(j, NULL);
        json_string(j, "kind", kinds[d->kind]);
        json_address(j, "culprit", check_culprit(d)->address);
        json_address(j, "at", d->at);
        json_uint(j, "bytes", d->known_bytes);
        json_string(j, "written", hex(v->arena, d->written, d->written_count));
        put_block(t, "block", v, m->e, &d->block);
        put_block(t, "neighbour", v, m->e, d->neighbour.address != 0 ? &d->neighbour : NULL);
        json_bool(j, "neighbour_freed", d->neighbour_freed);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}
