/* fields.c: charge the accesses of places in blocks to members of structures.
 *
 *     site: blocks of "node[]", 480 bytes         structure node, 24 bytes
 *     granule   0   1   2   3   4   5 …  59       member   key  left right
 *     counted   9   1   0   9   2   0 …   0   ─►  counted  Σ0,3,6…  Σ1,4,7…  Σ2,5,8…
 *
 * The type of a site determines the structure of its blocks, and their size the position in them.
 * The elements of an array are folded, by the size of the structure. A block that is one or two
 * words larger, and only likely of the type, has these words in front, as the headers of allocation
 * wrappers (type/types.c). In any other larger block only the bytes at its front belong to the
 * structure.
 *
 * A granule that several members share has one count. Each of these members gets that count and is
 * marked. If the size of an array's elements is not a multiple of the granule, all counts of the
 * array are shared in this way and marked as blurred. */
#include "analyse/fields.h"

#include <stdlib.h>
#include <string.h>

/* Maximum size of a structure in lines. A larger one consists of arrays, which no order
 * improves. */
enum { LINES_MAX = 1024 };

/* Suffixes of a site's type text: none, "[]" and " +". */
enum suffix { SUFFIX_NONE, SUFFIX_ARRAY, SUFFIX_MORE };

static enum suffix
suffix_of(const char *type, size_t *ret_length)
{
    size_t length = strlen(type);

    *ret_length = length;
    if (length > 2 && strcmp(type + length - 2, "[]") == 0) {
        *ret_length = length - 2;
        return SUFFIX_ARRAY;
    }
    if (length > 2 && strcmp(type + length - 2, " +") == 0) {
        *ret_length = length - 2;
        return SUFFIX_MORE;
    }
    return SUFFIX_NONE;
}

uint32_t
fields_type_name(struct profile *p, const struct profile_site *site)
{
    const char *type = profile_string(p, site->type);
    size_t length;

    if (site->type == 0)
        return 0;
    if (suffix_of(type, &length) == SUFFIX_NONE)
        return site->type;
    return strtab_id(&p->strings, arena_strndup(&p->arena, type, length));
}

/* Return the number of bytes of header words in front of A's blocks, which are of type S. */
static uint64_t
front_bytes(const struct profile_access *a, const struct profile_site *site,
            const struct profile_structure *s, enum suffix suffix)
{
    uint64_t size = a->size_bytes.min;

    if (site->verdict != VERDICT_LIKELY || size != a->size_bytes.max || size <= s->size)
        return 0;
    for (uint64_t front = 8; front <= 16; front *= 2) {
        if (suffix == SUFFIX_NONE && size == s->size + front)
            return front;
        if (suffix == SUFFIX_ARRAY && size % s->size != 0 && (size - front) % s->size == 0)
            return front;
    }
    return 0;
}

struct joiner {
    struct profile *p;
    const struct stacks *stacks;
    struct arena *arena;
    struct fields *ret;
    struct map by_name; // String to index in ret plus 1.
    struct field_other *others; // By stack.
};

static struct field_structure *
structure_of(struct joiner *j, uint32_t name)
{
    const uint64_t *known = name != 0 ? map_get(&j->by_name, name) : NULL;

    return known != NULL ? &j->ret->v[*known - 1] : NULL;
}

static void
add_counts(struct field_structure *f, uint32_t granule, const struct profile_access_field *field,
           uint64_t front, bool is_array)
{
    uint64_t at = (uint64_t)field->index * granule;
    struct field_counts *c;

    if (at < front)
        return;
    at -= front;
    if (at >= f->s->size) {
        if (!is_array)
            return;
        f->folded = true;
        at %= f->s->size;
    }
    f->blurred = f->blurred || at % granule != 0;
    c = &f->granules[at / granule];
    c->accesses += field->accesses;
    c->writes += field->writes;
    c->blocks += field->blocks;
    c->reached += field->reached;
    f->accesses += field->accesses;
    f->writes += field->writes;
}

/* Charge the blocks of A, whose fields are unknown, to their stack. */
static void
add_other(struct joiner *j, const struct profile_access *a)
{
    const struct profile_site *site = &j->p->sites[a->site];
    uint32_t stack = j->stacks->site_stacks[a->site] - 1;
    struct field_other *o = &j->others[stack];

    o->stack = &j->stacks->v[stack];
    o->type = site->verdict >= VERDICT_LIKELY ? profile_string(j->p, site->type) : "";
    o->blocks += a->blocks;
    o->accesses += a->accesses.total;
}

static int
by_others_accesses(const void *left, const void *right)
{
    const struct field_other *a = left, *b = right;

    if (a->accesses != b->accesses)
        return a->accesses > b->accesses ? -1 : 1;
    return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static void
find_largest(struct joiner *j)
{
    struct fields *ret = j->ret;
    double all = (double)ret->accesses + (double)ret->other_accesses;

    if (j->stacks->count > 1)
        qsort(j->others, j->stacks->count, sizeof *j->others, by_others_accesses);
    for (size_t i = 0; i < j->stacks->count && ret->largest_count < FIELD_OTHERS_MAX; i++) {
        if (j->others[i].accesses == 0 ||
            (double)j->others[i].accesses < all * FIELD_OTHER_SHARE)
            break;
        ret->largest[ret->largest_count++] = j->others[i];
    }
}

/* Count the bytes and accesses of A's blocks beyond the granules that have counters. The fields of
 * A begin at FIELD. */
static void
add_beyond(struct joiner *j, struct field_structure *f, const struct profile_access *a,
           const struct profile_access_field *field, const struct profile_access_field *end)
{
    const struct profile_accesses *all = &j->p->accesses;
    uint64_t bytes = 0, accesses = 0;

    if (a->size_bytes.max <= (uint64_t)all->granules_max * all->granule_bytes)
        return;
    for (; field < end && field->site == a->site; field++) {
        bytes += field->reached * all->granule_bytes;
        accesses += field->accesses;
    }
    bytes = bytes < a->size_bytes.total ? a->size_bytes.total - bytes : 0;
    accesses = accesses < a->accesses.total ? a->accesses.total - accesses : 0;
    f->beyond_bytes += bytes;
    f->beyond_accesses += accesses;
    j->ret->beyond_bytes += bytes;
    j->ret->beyond_accesses += accesses;
    j->ret->other_bytes += bytes;
    j->ret->other_accesses += accesses;
    j->ret->bytes -= bytes;
    j->ret->accesses -= accesses;
}

/* Charge the blocks of A to their structure. Their fields begin at FIELD. */
static void
join_site(struct joiner *j, const struct profile_access *a,
          const struct profile_access_field *field, const struct profile_access_field *end)
{
    const struct profile_site *site = &j->p->sites[a->site];
    struct field_structure *f = structure_of(j, fields_type_name(j->p, site));
    size_t length;
    enum suffix suffix = suffix_of(profile_string(j->p, site->type), &length);
    uint64_t front;

    // A type that only matches by size is too uncertain for advice.
    if (f == NULL || site->verdict < VERDICT_LIKELY) {
        j->ret->other_bytes += a->size_bytes.total;
        j->ret->other_accesses += a->accesses.total;
        add_other(j, a);
        return;
    }
    front = front_bytes(a, site, f->s, suffix);
    if (f->sites++ == 0 || site->verdict < f->verdict)
        f->verdict = site->verdict;
    f->blocks += a->blocks;
    f->bytes += a->size_bytes.total;
    f->elements += suffix == SUFFIX_ARRAY
                       ? (a->size_bytes.total - front * a->blocks) / f->s->size
                       : a->blocks;
    f->migrated += a->migrated;
    f->dated += a->dated;
    f->unproven |= a->unproven;
    j->ret->bytes += a->size_bytes.total;
    j->ret->accesses += a->accesses.total;
    add_beyond(j, f, a, field, end);
    for (; field < end && field->site == a->site; field++)
        add_counts(f, j->ret->granule_bytes, field, front, suffix == SUFFIX_ARRAY);
}

static void
fields_add_row(struct field_structure *f, const struct profile_member *m, uint64_t offset,
               uint64_t size)
{
    f->rows[f->row_count++] = (struct field_row){.member = m, .offset = offset, .size = size};
    f->padding_bytes += m == NULL ? size : 0;
}

/* List the members of F and the gaps between them as rows. */
static void
fields_lay_out(struct field_structure *f, struct arena *arena)
{
    const struct profile_structure *s = f->s;
    uint64_t at = 0;

    f->rows = arena_array(arena, 2 * s->member_count + 1, sizeof *f->rows);
    for (size_t i = 0; i < s->member_count; i++) {
        const struct profile_member *m = &s->members[i];

        if (m->offset > at)
            fields_add_row(f, NULL, at, m->offset - at);
        fields_add_row(f, m, m->offset, m->size);
        if (m->offset + m->size > at)
            at = m->offset + m->size;
    }
    if (at < s->size)
        fields_add_row(f, NULL, at, s->size - at);
}

/* Charge the counts of granules to rows. */
static void
fields_count_rows(struct field_structure *f, uint32_t granule, struct arena *arena)
{
    uint32_t *owners = arena_array(arena, f->granule_count, sizeof *owners);

    for (size_t i = 0; i < f->row_count; i++)
        for (uint64_t g = f->rows[i].offset / granule;
             f->rows[i].member != NULL &&
             g <= (f->rows[i].offset + f->rows[i].size - 1) / granule;
             g++)
            owners[g]++;
    for (size_t i = 0; i < f->row_count; i++) {
        struct field_row *r = &f->rows[i];

        for (uint64_t g = r->offset / granule; g <= (r->offset + r->size - 1) / granule; g++) {
            const struct field_counts *c = &f->granules[g];

            if (r->member == NULL)
                continue;
            r->counts.accesses += c->accesses;
            r->counts.writes += c->writes;
            if (c->blocks > r->counts.blocks)
                r->counts.blocks = c->blocks;
            if (c->reached > r->counts.reached)
                r->counts.reached = c->reached;
            r->together = r->together || owners[g] > 1 || f->blurred;
        }
    }
}

static void
count_part(const struct field_structure *f, struct field_part *part, uint32_t granule)
{
    uint64_t end = part->offset + part->size;

    for (uint64_t g = part->offset / granule; g <= (end - 1) / granule; g++) {
        part->accesses += f->granules[g].accesses;
        part->writes += f->granules[g].writes;
    }
}

/* Return the end of the part that begins with FIRST and whose last member ends at END. The end
 * includes the padding of a nested structure, up to the next part at NEXT. */
static uint64_t
end_of_part(const struct profile_member *first, uint64_t end, uint64_t next)
{
    uint64_t whole = first->part_offset + first->part_size;

    if (whole > next)
        whole = next;
    return whole > end ? whole : end;
}

/* Return the offset of the first member from row I on, or the size of F if there is none. */
static uint64_t
next_member(const struct field_structure *f, size_t i)
{
    while (i < f->row_count && f->rows[i].member == NULL)
        i++;
    return i < f->row_count ? f->rows[i].offset : f->s->size;
}

/* Group the rows of F into parts that move together. */
static void
fields_find_parts(struct field_structure *f, uint32_t granule, struct arena *arena)
{
    f->parts = arena_array(arena, f->row_count, sizeof *f->parts);
    for (size_t i = 0, next; i < f->row_count; i = next) {
        const struct profile_member *first = f->rows[i].member;
        struct field_part part = {.offset = f->rows[i].offset, .first_row = (uint32_t)i,
                                  .alignment = 1};
        uint64_t end = part.offset;

        next = i + 1;
        if (first == NULL)
            continue;
        for (size_t k = i; k < f->row_count; k++) {
            const struct field_row *r = &f->rows[k];

            if (r->member == NULL)
                continue;
            if (r->member->part != first->part)
                break;
            next = k + 1;
            end = r->offset + r->size > end ? r->offset + r->size : end;
            part.alignment =
                r->member->alignment > part.alignment ? r->member->alignment : part.alignment;
            part.fixed = part.fixed || r->member->fixed;
            part.shared = part.shared || r->member->shared;
            part.together = part.together || r->together;
        }
        part.row_count = (uint32_t)(next - i);
        if (first->part_size > 0) {
            part.alignment = first->part_alignment;
            if (first->part_offset < part.offset)
                part.offset = first->part_offset;
        }
        part.size = end_of_part(first, end, next_member(f, next)) - part.offset;
        count_part(f, &part, granule);
        f->parts[f->part_count++] = part;
    }
}

static int
fields_by_accesses(const void *left, const void *right)
{
    const struct field_structure *a = left, *b = right;

    if (a->accesses != b->accesses)
        return a->accesses > b->accesses ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->s < b->s ? -1 : a->s > b->s;
}

/* Create an empty field_structure for each structure of P. */
static void
fields_begin(struct joiner *j)
{
    const struct profile *p = j->p;
    struct fields *ret = j->ret;

    ret->v = arena_array(j->arena, p->structure_count, sizeof *ret->v);
    for (size_t i = 0; i < p->structure_count; i++) {
        const struct profile_structure *s = &p->structures[i];
        struct field_structure *f = &ret->v[i];

        f->s = s;
        f->granule_count = (size_t)((s->size + ret->granule_bytes - 1) / ret->granule_bytes);
        f->granules = arena_array(j->arena, f->granule_count, sizeof *f->granules);
        *map_put(&j->by_name, s->name, NULL) = i + 1;
    }
}

void
fields_build(struct profile *p, const struct stacks *stacks, struct arena *arena,
             struct fields *ret)
{
    struct joiner j = {.p = p, .stacks = stacks, .arena = arena, .ret = ret};
    const struct profile_accesses *all = &p->accesses;
    const struct profile_access_field *field = all->fields, *end = field + all->field_count;

    *ret = (struct fields){.granule_bytes = all->granule_bytes};
    fields_begin(&j);
    j.others = arena_array(arena, stacks->count, sizeof *j.others);
    for (size_t i = 0; i < all->count; i++) {
        while (field < end && field->site < all->v[i].site)
            field++;
        if (stacks->site_stacks[all->v[i].site] != 0)
            join_site(&j, &all->v[i], field, end);
    }
    find_largest(&j);
    for (size_t i = 0; i < p->structure_count; i++)
        if (ret->v[i].accesses > 0)
            ret->v[ret->count++] = ret->v[i];
    if (ret->count > 1)
        qsort(ret->v, ret->count, sizeof *ret->v, fields_by_accesses);
    for (size_t i = 0; i < ret->count; i++) {
        fields_lay_out(&ret->v[i], arena);
        fields_count_rows(&ret->v[i], ret->granule_bytes, arena);
        fields_find_parts(&ret->v[i], ret->granule_bytes, arena);
    }
    map_release(&j.by_name);
}

double
field_share(const struct field_counts *c)
{
    if (c->reached == 0)
        return 0;
    return c->blocks >= c->reached ? 1 : (double)c->blocks / (double)c->reached;
}

/* Return the result of fields_lines for blocks that begin SHIFT bytes behind the start of a
 * line. */
static double
lines_at(const struct field_structure *f, uint32_t granule, const uint64_t *offsets,
         uint64_t shift)
{
    double most[LINES_MAX + 2] = {0};
    double sum = 0;

    for (size_t i = 0; i < f->part_count; i++) {
        const struct field_part *part = &f->parts[i];

        for (uint64_t k = 0; k < part->size; k++) {
            double share = field_share(&f->granules[(part->offset + k) / granule]);
            uint64_t at = shift + k + (offsets != NULL ? offsets[i] : part->offset);
            uint64_t line = at / FIELDS_LINE_BYTES;

            if (line < countof(most) && share > most[line])
                most[line] = share;
        }
    }
    for (size_t i = 0; i < countof(most); i++)
        sum += most[i];
    return sum;
}

double
fields_lines(const struct field_structure *f, uint32_t granule_bytes, const uint64_t *offsets)
{
    enum { MALLOC_ALIGNMENT = 16 };
    uint64_t step = f->s->alignment > MALLOC_ALIGNMENT ? f->s->alignment : MALLOC_ALIGNMENT;
    double sum = 0;
    unsigned count = 0;

    if (f->s->size > (uint64_t)LINES_MAX * FIELDS_LINE_BYTES)
        return 0;
    for (uint64_t shift = 0; shift < FIELDS_LINE_BYTES; shift += step, count++)
        sum += lines_at(f, granule_bytes, offsets, shift);
    return sum / count;
}
