/* json_retain.c: write the member "retained" of the document "heaptap-memory".
 *
 *     {"by": "root", "total": {…}, "lost": {…}, "rows": [{"kind": "variable", …}, …]}
 *     {"blocks": 5, "bytes": 1200, "root": "variable", "path": [{"holder": "server", …}, …]} */
#include "json/json_tables.h"
#include "view/phrases.h"
#include "view/retain_view.h"

static void
json_retain_put_sum(struct json *j, const char *key, const struct block_sum *sum)
{
    json_object_line(j, key);
    json_uint(j, "blocks", sum->blocks);
    json_uint(j, "bytes", sum->bytes);
    json_end(j);
}

static void
json_retain_put_row(struct json_tables *t, const struct retain_view *r,
                    const struct retain_row *row)
{
    struct json *j = t->j;

    json_object_line(j, NULL);
    if (r->by == RETAIN_BY_ROOT)
        json_string(j, "kind", retain_kind_name(row->kind));
    json_string(j, "name", row->name);
    if (r->by == RETAIN_BY_ROOT) {
        json_known(j, "owner", row->owner);
        json_uint(j, "words", row->words);
    } else {
        json_retain_put_sum(j, "own", &row->own);
    }
    json_retain_put_sum(j, "retained", &row->retained);
    if (row->stack != NULL)
        json_stack(t, "stack", row->stack);
    json_end(j);
}

static void
json_retain_put_step(struct json_tables *t, const struct view *v, const struct retain_view *r,
                     size_t i, json_check_block *put_block)
{
    const struct retain_step *s = &r->steps[i];
    struct json *j = t->j;

    json_object(j, NULL);
    json_string(j, "holder", s->holder);
    if (i == 0 && r->root == RETAIN_REGISTER)
        json_string(j, "at", NULL);
    else if (i == 0)
        json_address(j, "at", s->at);
    else
        json_uint(j, "offset", s->at);
    json_uint(j, "to_byte", s->within);
    json_bool(j, "on_every_path", s->only);
    json_known(j, "type", s->type);
    put_block(t, "block", v, r->retain->e, s->block);
    json_end(j);
}

void
json_retain(struct json_tables *t, const struct view *v, const struct memory_view *m,
            size_t limit, json_check_block *put_block)
{
    const struct retain_view *r = m->retain;
    struct json *j = t->j;

    json_object(j, "retained");
    if (r->retain->target != NULL) {
        json_uint(j, "blocks", r->retained.blocks);
        json_uint(j, "bytes", r->retained.bytes);
        json_known(j, "root", r->step_count > 0 ? retain_kind_name(r->root) : NULL);
        json_array(j, "path");
        for (size_t i = 0; i < r->step_count && i < limit; i++)
            json_retain_put_step(t, v, r, i, put_block);
        json_end(j);
    } else {
        json_string(j, "by", retain_by_names[r->by]);
        json_retain_put_sum(j, "total", &r->total);
        json_retain_put_sum(j, "lost", &r->lost);
        json_array(j, "rows");
        for (size_t i = 0; i < r->row_count && i < limit; i++)
            json_retain_put_row(t, r, &r->rows[i]);
        json_end(j);
    }
    json_uint(j, "stopped_ns", m->e->stopped_ns);
    json_end(j);
}
