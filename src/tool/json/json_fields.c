/* json_fields.c: write the document "heaptap-fields": each structure with its members in order,
 * their counts, and the advice in numbers and in words. */
#include "json/json.h"

#include "json/json_tables.h"
#include "view/phrases.h"

static void
json_row_of(struct json *j, const struct profile *p, const struct field_row *r)
{
    const struct profile_member *m = r->member;

    json_object_line(j, NULL);
    json_string(j, "name", m != NULL ? profile_string(p, m->name) : NULL);
    json_string(j, "type", m != NULL ? profile_string(p, m->type) : NULL);
    json_uint(j, "offset", r->offset);
    json_uint(j, "size", r->size);
    json_uint(j, "bits", m != NULL ? m->bits : 0);
    if (m == NULL) {
        json_end(j);
        return;
    }
    json_uint(j, "accesses", r->counts.accesses);
    if (p->accesses.separate)
        json_uint(j, "writes", r->counts.writes);
    else
        json_string(j, "writes", NULL);
    json_uint(j, "blocks", r->counts.blocks);
    json_uint(j, "reached", r->counts.reached);
    json_bool(j, "together", r->together);
    json_end(j);
}

static void
json_rows(struct json *j, const char *key, const struct profile *p,
          const struct field_structure *f, const uint32_t *v, size_t count)
{
    json_array(j, key);
    for (size_t i = 0; i < count; i++)
        json_string(j, NULL, field_name(p, &f->rows[v[i]]));
    json_end(j);
}

static void
json_parts(struct json *j, const char *key, const struct view *v, const struct field_structure *f,
           const uint32_t *parts, size_t count)
{
    json_array(j, key);
    for (size_t i = 0; i < count; i++)
        json_string(j, NULL, field_part_name(v->p, f, &f->parts[parts[i]], v->arena));
    json_end(j);
}

static void
json_order(struct json *j, const struct view *v, const struct field_structure *f,
           const struct field_advice *a)
{
    json_array(j, "order");
    for (size_t i = 0; i < a->order_count; i++) {
        json_object_line(j, NULL);
        json_string(j, "name", field_part_name(v->p, f, &f->parts[a->order[i]], v->arena));
        json_uint(j, "offset", a->offsets[a->order[i]]);
        json_end(j);
    }
    json_end(j);
}

static void
json_advice(struct json *j, const struct view *v, const struct fields *all,
            const struct field_structure *f)
{
    const char *sentences[FIELD_SENTENCES];
    struct field_advice a;
    size_t count;

    field_advise(v->p, all, f, v->arena, &a);
    count = field_sentences(v->p, f, &a, v->arena, sentences);
    json_object(j, "advice");
    json_rows(j, "untouched", v->p, f, a.untouched, a.untouched_count);
    json_uint(j, "untouched_field_bytes", a.untouched_bytes);
    json_rows(j, "unread", v->p, f, a.unread, a.unread_count);
    json_rows(j, "once", v->p, f, a.once, a.once_count);
    json_parts(j, "hot", v, f, a.hot, a.hot_count);
    json_uint(j, "hot_lines", a.hot_lines);
    json_uint(j, "hot_lines_least", a.hot_lines_least);
    json_order(j, v, f, &a);
    json_uint(j, "new_size", a.new_size);
    json_uint(j, "new_hot_lines", a.new_hot_lines);
    json_double(j, "lines_touched", a.lines);
    json_double(j, "new_lines_touched", a.new_lines);
    json_array(j, "false_sharing");
    for (size_t i = 0; i < a.conflict_count; i++) {
        json_object_line(j, NULL);
        json_uint(j, "cache_line", a.conflicts[i].line);
        json_string(j, "written",
                    field_part_name(v->p, f, &f->parts[a.conflicts[i].written], v->arena));
        json_string(j, "read", field_part_name(v->p, f, &f->parts[a.conflicts[i].read], v->arena));
        json_end(j);
    }
    json_end(j);
    json_array(j, "sentences");
    for (size_t i = 0; i < count; i++)
        json_string(j, NULL, sentences[i]);
    json_end(j);
    json_end(j);
}

static void
json_structure(struct json *j, const struct view *v, const struct fields *all,
               const struct field_structure *f)
{
    static const char *const verdicts[] = {"unknown", "same_size", "likely", "certain"};

    json_object(j, NULL);
    json_string(j, "name", profile_string(v->p, f->s->name));
    json_uint(j, "size", f->s->size);
    json_uint(j, "alignment", f->s->alignment);
    json_string(j, "verdict", verdicts[f->verdict <= VERDICT_CERTAIN ? f->verdict : 0]);
    json_uint(j, "site_count", f->sites);
    json_uint(j, "access_blocks", f->blocks);
    json_uint(j, "elements", f->elements);
    json_uint(j, "bytes", f->bytes);
    json_uint(j, "accesses", f->accesses);
    json_uint(j, "migrated_cpu", f->migrated);
    json_uint(j, "beyond_bytes", f->beyond_bytes);
    json_uint(j, "beyond_accesses", f->beyond_accesses);
    json_bool(j, "complete", f->s->is_complete && f->beyond_bytes == 0);
    json_bool(j, "unproven", f->unproven);
    json_bool(j, "blurred", f->blurred);
    json_uint(j, "padding_bytes", f->padding_bytes);
    json_array(j, "fields");
    for (size_t i = 0; i < f->row_count; i++)
        json_row_of(j, v->p, &f->rows[i]);
    json_end(j);
    json_advice(j, v, all, f);
    json_end(j);
}

void
json_fields(struct json *j, const struct view *v, const struct fields *f, size_t limit)
{
    json_object(j, NULL);
    json_head(j, "heaptap-fields", v->p, &v->stacks->total, &v->stacks->errors);
    json_counting(j, v->p);
    json_uint(j, "known_bytes", f->bytes);
    json_uint(j, "known_accesses", f->accesses);
    json_uint(j, "other_bytes", f->other_bytes);
    json_uint(j, "other_accesses", f->other_accesses);
    json_array(j, "largest_others");
    for (size_t i = 0; i < f->largest_count; i++) {
        const struct field_other *o = &f->largest[i];
        const struct profile_frame *top =
            o->stack->depth > 0 ? &v->p->frames[o->stack->frames[0]] : NULL;

        json_object_line(j, NULL);
        json_known(j, "function", top != NULL ? profile_string(v->p, top->function) : "");
        json_known(j, "type", o->type);
        json_uint(j, "access_blocks", o->blocks);
        json_uint(j, "accesses", o->accesses);
        json_end(j);
    }
    json_end(j);
    json_array(j, "structures");
    for (size_t i = 0; i < f->count && i < limit; i++)
        json_structure(j, v, f, &f->v[i]);
    json_end(j);
    json_end(j);
}
