/* field_advice.c: suggest layouts from the use of members.
 *
 * A new order is better if a block's accesses touch fewer cache lines, if its hot members occupy
 * fewer lines, or if the structure shrinks, and none of the three gets worse. Members that most
 * blocks touch move to the front, so that most lines are needed either whole or never. Ties go to
 * the member with more accesses per byte. If alignment leaves a gap, the next member in this order
 * that fits fills it.
 *
 * Base classes and vtable pointers stay in front. A trailing array of one element stays at the end,
 * because in C it is often a flexible array. Code that relies on the order (files, wire formats,
 * casts of the first member) is invisible here; the reader of the advice must check.
 *
 * False sharing needs two threads on one line at the same time. Accesses are not counted by thread,
 * so only candidates can be reported, and only in a program with several threads. A candidate is a
 * line with an often-written part beside a mostly read one. If reads and writes share a counter, it
 * is a line with a lock or an atomic beside an often-accessed member.
 *
 * There is no advice for structures counted by granules larger than words, for unions, for
 * structures with unknown members, or for blurred counts. */
#include "analyse/fields.h"

#include <stdlib.h>
#include <string.h>

#define ORDER_LINES_MIN 0.25 // Least number of lines that a new order must save.
#define CONFLICT_SHARE 0.05  // Least share of a structure's accesses at which a part matters.
#define MOSTLY 0.9

enum { WORD_BYTES = 8, SHARE_STEPS = 10, CONFLICT_ACCESSES_MIN = 1000 };

static bool
can_advise(const struct fields *fields, const struct field_structure *f)
{
    return fields->granule_bytes == WORD_BYTES && f->s->is_complete && !f->s->is_union &&
           !f->blurred && f->accesses > 0;
}

/* Return the bytes that the COUNT rows V of F cover. Bytes that bit-fields share count once. */
static uint64_t
row_bytes(const struct field_structure *f, const uint32_t *v, size_t count)
{
    uint64_t bytes = 0, end = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t from = f->rows[v[i]].offset, to = from + f->rows[v[i]].size;

        if (to <= end)
            continue;
        bytes += to - (from > end ? from : end);
        end = to;
    }
    return bytes;
}

static void
find_unused(const struct profile *p, const struct field_structure *f, struct arena *arena,
            struct field_advice *ret)
{
    ret->untouched = arena_array(arena, f->row_count, sizeof *ret->untouched);
    ret->unread = arena_array(arena, f->row_count, sizeof *ret->unread);
    ret->once = arena_array(arena, f->row_count, sizeof *ret->once);
    for (uint32_t i = 0; i < f->row_count; i++) {
        const struct field_row *r = &f->rows[i];

        if (r->member == NULL || r->counts.reached == 0)
            continue;
        if (r->counts.accesses == 0)
            ret->untouched[ret->untouched_count++] = i;
        else if (p->accesses.separate && r->counts.writes >= r->counts.accesses)
            ret->unread[ret->unread_count++] = i;
        else if (r->counts.accesses <= r->counts.blocks)
            ret->once[ret->once_count++] = i;
    }
    ret->untouched_bytes = row_bytes(f, ret->untouched, ret->untouched_count);
    ret->unread_bytes = row_bytes(f, ret->unread, ret->unread_count);
    ret->once_bytes = row_bytes(f, ret->once, ret->once_count);
}

/* A part that is not yet placed in the new order. */
struct candidate {
    uint32_t part;
    unsigned share; // Share of the blocks that touched the part, in units of 1/SHARE_STEPS.
    double per_byte;
    bool placed;
    bool is_tail; // Stays last.
};

static double
part_share(const struct field_structure *f, const struct field_part *part)
{
    double most = 0;

    for (uint64_t g = part->offset / WORD_BYTES;
         g <= (part->offset + part->size - 1) / WORD_BYTES; g++) {
        double share = field_share(&f->granules[g]);

        most = share > most ? share : most;
    }
    return most;
}

static int
by_accesses_per_byte(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    if (a->per_byte != b->per_byte)
        return a->per_byte > b->per_byte ? -1 : 1;
    return a->part < b->part ? -1 : a->part > b->part;
}

static int
by_share(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    if (a->share != b->share)
        return a->share > b->share ? -1 : 1;
    return by_accesses_per_byte(left, right);
}

/* Return true if the last part of F is an array of one element or none. */
static bool
field_advice_has_tail(const struct profile *p, const struct field_structure *f)
{
    const struct field_part *part = &f->parts[f->part_count - 1];
    const struct profile_member *m = f->rows[part->first_row].member;
    const char *type = m != NULL ? profile_string(p, m->type) : "";
    size_t length = strlen(type);

    return part->row_count == 1 && length > 3 &&
           (strcmp(type + length - 3, "[1]") == 0 || strcmp(type + length - 3, "[0]") == 0);
}

static struct candidate *
candidates_of(const struct field_structure *f, struct arena *arena)
{
    struct candidate *v = arena_array(arena, f->part_count, sizeof *v);

    for (uint32_t i = 0; i < f->part_count; i++) {
        const struct field_part *part = &f->parts[i];

        v[i] = (struct candidate){
            .part = i,
            .share = (unsigned)(part_share(f, part) * SHARE_STEPS + 0.5),
            // A small part has the accesses of the whole word.
            .per_byte = (double)part->accesses /
                        (double)(part->size > WORD_BYTES ? part->size : WORD_BYTES),
        };
    }
    return v;
}

/* Return the number of lines that the COUNT parts V of F occupy at OFFSETS (by part; NULL = the
 * present layout). Each line counts once. */
static uint64_t
count_lines(const struct field_structure *f, const uint32_t *v, size_t count,
            const uint64_t *offsets, struct arena *arena)
{
    // A new order may have gaps.
    size_t line_count = (size_t)(2 * f->s->size / FIELDS_LINE_BYTES + 2);
    bool *has = arena_array(arena, line_count, sizeof *has);
    uint64_t lines = 0;

    for (size_t i = 0; i < count; i++) {
        const struct field_part *part = &f->parts[v[i]];

        uint64_t at = offsets != NULL ? offsets[v[i]] : part->offset;

        for (uint64_t k = at / FIELDS_LINE_BYTES;
             k <= (at + part->size - 1) / FIELDS_LINE_BYTES && k < line_count; k++) {
            lines += !has[k];
            has[k] = true;
        }
    }
    return lines;
}

static void
find_hot(const struct field_structure *f, struct arena *arena, struct field_advice *ret)
{
    struct candidate *v = candidates_of(f, arena);
    double sum = 0;

    if (f->part_count > 1)
        qsort(v, f->part_count, sizeof *v, by_accesses_per_byte);
    ret->hot = arena_array(arena, f->part_count, sizeof *ret->hot);
    for (size_t i = 0; i < f->part_count && sum < (double)f->accesses * FIELD_HOT_SHARE; i++) {
        const struct field_part *part = &f->parts[v[i].part];

        if (part->accesses == 0)
            break;
        sum += (double)part->accesses;
        ret->hot[ret->hot_count++] = v[i].part;
        ret->hot_bytes += part->size;
    }
    ret->hot_lines = count_lines(f, ret->hot, ret->hot_count, NULL, arena);
    ret->new_hot_lines = ret->hot_lines;
    ret->hot_lines_least = (ret->hot_bytes + FIELDS_LINE_BYTES - 1) / FIELDS_LINE_BYTES;
}

/* Return the part of V to place at AT: the first one left, or, if that needs a gap, the first part
 * that fits into the gap. Returns NULL if none is left. */
static struct candidate *
next_candidate(const struct field_structure *f, struct candidate *v, uint64_t at)
{
    struct candidate *first = NULL;
    uint64_t end = 0; // Size of the gap that the first part needs.

    for (size_t i = 0; i < f->part_count; i++) {
        if (v[i].placed || v[i].is_tail)
            continue;
        if (first == NULL) {
            first = &v[i];
            end = round_up(at, f->parts[first->part].alignment);
        } else if (round_up(at, f->parts[v[i].part].alignment) + f->parts[v[i].part].size <= end) {
            return &v[i];
        }
    }
    for (size_t i = 0; i < f->part_count && first == NULL; i++)
        if (!v[i].placed)
            first = &v[i];
    return first;
}

/* Place all parts, fixed parts first and at their present offsets. Returns the new size. */
static uint64_t
place_parts(const struct field_structure *f, struct candidate *v, struct field_advice *ret)
{
    uint64_t at = 0;
    struct candidate *c;

    for (size_t i = 0; i < f->part_count; i++) {
        struct field_part *part = &f->parts[v[i].part];

        if (!part->fixed)
            continue;
        ret->offsets[v[i].part] = part->offset;
        v[i].placed = true;
        if (part->offset + part->size > at)
            at = part->offset + part->size;
    }
    for (uint32_t i = 0; i < f->part_count; i++)
        if (f->parts[i].fixed)
            ret->order[ret->order_count++] = i;
    while ((c = next_candidate(f, v, at)) != NULL) {
        const struct field_part *part = &f->parts[c->part];

        at = round_up(at, part->alignment);
        ret->offsets[c->part] = at;
        ret->order[ret->order_count++] = c->part;
        c->placed = true;
        at += part->size;
    }
    return round_up(at, f->s->alignment);
}

static void
find_order(const struct profile *p, const struct fields *fields, const struct field_structure *f,
           struct arena *arena, struct field_advice *ret)
{
    struct candidate *v = candidates_of(f, arena);

    ret->lines = fields_lines(f, fields->granule_bytes, NULL);
    ret->new_lines = ret->lines;
    ret->new_size = f->s->size;
    if (ret->lines == 0 || f->part_count < 2)
        return;
    qsort(v, f->part_count, sizeof *v, by_share);
    for (size_t i = 0; i < f->part_count; i++)
        v[i].is_tail = v[i].part == f->part_count - 1 && field_advice_has_tail(p, f);
    ret->order = arena_array(arena, f->part_count, sizeof *ret->order);
    ret->offsets = arena_array(arena, f->part_count, sizeof *ret->offsets);
    ret->new_size = place_parts(f, v, ret);
    ret->new_lines = fields_lines(f, fields->granule_bytes, ret->offsets);
    ret->new_hot_lines = count_lines(f, ret->hot, ret->hot_count, ret->offsets, arena);
    if (ret->new_size <= f->s->size && ret->new_lines <= ret->lines &&
        ret->new_hot_lines <= ret->hot_lines &&
        (ret->new_size < f->s->size || ret->new_hot_lines < ret->hot_lines ||
         ret->lines - ret->new_lines >= ORDER_LINES_MIN))
        return;
    ret->order_count = 0;
    ret->new_hot_lines = ret->hot_lines;
    ret->new_lines = ret->lines;
    ret->new_size = f->s->size;
}

static bool
is_often(const struct field_structure *f, uint64_t accesses)
{
    return accesses >= CONFLICT_ACCESSES_MIN &&
           (double)accesses >= (double)f->accesses * CONFLICT_SHARE;
}

/* Return true if PART of F is often written. Unless reads and writes are counted SEPARATE, only
 * parts meant to be shared by threads qualify, by their accesses. */
static bool
is_written(const struct field_structure *f, const struct field_part *part, bool separate)
{
    if (part->shared || !separate)
        return part->shared && is_often(f, part->accesses);
    return is_often(f, part->writes) &&
           (double)part->writes >= (double)part->accesses * (1 - MOSTLY);
}

/* Return true if PART is often and mostly read. Unless reads and writes are counted SEPARATE,
 * frequent accesses suffice. */
static bool
field_advice_is_read(const struct field_structure *f, const struct field_part *part, bool separate)
{
    uint64_t reads = separate ? part->accesses - part->writes : part->accesses;

    return is_often(f, reads) && !part->shared &&
           (double)reads >= (double)part->accesses * MOSTLY;
}

static void
find_conflicts(const struct profile *p, const struct field_structure *f, struct field_advice *ret)
{
    bool separate = p->accesses.separate;

    if (!profile_has_threads(p))
        return;
    for (uint32_t i = 0; i < f->part_count; i++)
        for (uint32_t k = 0; k < f->part_count; k++) {
            const struct field_part *w = &f->parts[i], *r = &f->parts[k];
            uint64_t line = w->offset / FIELDS_LINE_BYTES;

            if (i == k || ret->conflict_count == FIELD_CONFLICTS_MAX ||
                r->offset / FIELDS_LINE_BYTES != line || !is_written(f, w, separate) ||
                !field_advice_is_read(f, r, separate) ||
                w->together || r->together)
                continue;
            ret->conflicts[ret->conflict_count++] = (struct field_conflict){line, i, k};
        }
}

void
field_advise(const struct profile *p, const struct fields *fields,
             const struct field_structure *f, struct arena *arena, struct field_advice *ret)
{
    *ret = (struct field_advice){.new_size = f->s->size};
    if (!can_advise(fields, f))
        return;
    find_unused(p, f, arena, ret);
    find_hot(f, arena, ret);
    find_order(p, fields, f, arena, ret);
    find_conflicts(p, f, ret);
}
