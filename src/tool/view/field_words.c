/* field_words.c: advice on a structure, in sentences for text, JSON and pictures. */
#include "view/phrases.h"

#include <inttypes.h>
#include <string.h>

#include "base/base.h"
#include "view/style.h"

enum { NAMES_SHOWN = 6, ORDER_SHOWN = 24 };

const char *
field_name(const struct profile *p, const struct field_row *r)
{
    return r->member != NULL ? profile_string(p, r->member->name) : "(padding)";
}

/* Append NAME to the list TEXT, which has COUNT names. */
static const char *
with_name(struct arena *arena, const char *text, const char *name, size_t count)
{
    return arena_printf(arena, "%s%s%s", text, count > 0 ? ", " : "", name);
}

/* Return the end of the outer structure's name in NAME, "list.next"; NULL if there is none. g++
 * also writes a dot in names of pointers to virtual functions, "_vptr.Class", which is not a
 * separator. */
static const char *
end_of_outer(const char *name)
{
    return strncmp(name, "_vptr", 5) != 0 ? strchr(name, '.') : NULL;
}

const char *
field_part_name(const struct profile *p, const struct field_structure *f,
                const struct field_part *part, struct arena *arena)
{
    const char *text = "";
    size_t count = 0;

    for (uint32_t i = part->first_row; i < part->first_row + part->row_count; i++) {
        const char *name = field_name(p, &f->rows[i]), *dot = end_of_outer(name);

        if (f->rows[i].member == NULL)
            continue;
        // A nested structure needs only its last name.
        if (part->row_count > 1 && dot != NULL && f->rows[i].member->bits == 0)
            return arena_strndup(arena, name, (size_t)(dot - name));
        text = with_name(arena, text, name, count++);
    }
    return text;
}

const char *
field_verdict_words(uint32_t verdict)
{
    return verdict == VERDICT_CERTAIN ? "certainly" : "likely";
}

/* Return the first names of the COUNT rows V of F. */
static const char *
row_names(const struct profile *p, const struct field_structure *f, const uint32_t *v, size_t count,
          struct arena *arena)
{
    const char *text = "";

    for (size_t i = 0; i < count && i < NAMES_SHOWN; i++)
        text = with_name(arena, text, field_name(p, &f->rows[v[i]]), i);
    return count > NAMES_SHOWN ? arena_printf(arena, "%s and %zu more", text, count - NAMES_SHOWN)
                               : text;
}

static const char *
part_names(const struct profile *p, const struct field_structure *f, const uint32_t *v,
           size_t count, size_t limit, struct arena *arena)
{
    const char *text = "";

    for (size_t i = 0; i < count && i < limit; i++)
        text = with_name(arena, text, field_part_name(p, f, &f->parts[v[i]], arena), i);
    return count > limit ? arena_printf(arena, "%s and %zu more", text, count - limit) : text;
}

static const char *
of_size(const struct field_structure *f, uint64_t bytes, struct arena *arena)
{
    return arena_printf(arena, "%" PRIu64 " of %s", bytes,
                        style_plural(arena, (int64_t)f->s->size, "byte"));
}

/* Return the number of bytes that glibc's malloc uses for a block of SIZE bytes. */
static uint64_t
chunk_of(uint64_t size)
{
    enum { OWN_BYTES = 8, STEP = 16, LEAST = 32 };
    uint64_t chunk = round_up(size + OWN_BYTES, STEP);

    return chunk > LEAST ? chunk : LEAST;
}

/* Return the saving by NEW_SIZE over F's size: "8 bytes less, with glibc's malloc 16". For elements
 * of arrays, return only the first part. */
static const char *
saving(const struct field_structure *f, uint64_t new_size, struct arena *arena)
{
    const char *bytes = style_plural(arena, (int64_t)(f->s->size - new_size), "byte");
    const char *text = arena_printf(arena, "%s less", bytes);
    uint64_t chunks = chunk_of(f->s->size) - chunk_of(new_size);

    if (f->folded || chunks == f->s->size - new_size)
        return text;
    return chunks == 0
               ? arena_printf(arena, "%s, but not with glibc's malloc", text)
               : arena_printf(arena, "%s, with glibc's malloc %" PRIu64, text, chunks);
}

static const char *
order_sentence(const struct profile *p, const struct field_structure *f,
               const struct field_advice *a, struct arena *arena)
{
    const char *gain = "";

    if (a->new_lines + 0.05 < a->lines)
        gain = arena_printf(arena, "%.1f instead of %.1f cache lines touched of each", a->new_lines,
                            a->lines);
    if (a->new_hot_lines < a->hot_lines)
        gain = arena_printf(arena, "%s%shot fields on %" PRIu64 " instead of %" PRIu64 " lines",
                            gain, *gain ? ", " : "", a->new_hot_lines, a->hot_lines);
    if (a->new_size < f->s->size)
        gain = arena_printf(arena, "%s%s%s", gain, *gain ? ", " : "",
                            saving(f, a->new_size, arena));
    return arena_printf(arena, "a better order: %s (%s)",
                        part_names(p, f, a->order, a->order_count, ORDER_SHOWN, arena), gain);
}

/* Return the number of accesses of each block to each of the fields A->once of F, in words. */
static const char *
once_words(const struct field_structure *f, const struct field_advice *a)
{
    for (size_t i = 0; i < a->once_count; i++)
        if (f->rows[a->once[i]].counts.blocks < f->rows[a->once[i]].counts.reached)
            return "at most one access";
    return "one access";
}

size_t
field_sentences(const struct profile *p, const struct field_structure *f,
                const struct field_advice *a, struct arena *arena,
                const char *ret[FIELD_SENTENCES])
{
    size_t count = 0;

    if (a->untouched_count > 0)
        ret[count++] = arena_printf(arena, "%s, %s: %s", access_unused_words(f->unproven),
                                    of_size(f, a->untouched_bytes, arena),
                                    row_names(p, f, a->untouched, a->untouched_count, arena));
    if (a->unread_count > 0)
        ret[count++] = arena_printf(arena, "%s, %s: %s", access_unread_words(f->unproven),
                                    of_size(f, a->unread_bytes, arena),
                                    row_names(p, f, a->unread, a->unread_count, arena));
    if (a->once_count > 0 && a->once_bytes < f->s->size)
        ret[count++] = arena_printf(arena, "%s in each block, %s: %s",
                                    once_words(f, a), of_size(f, a->once_bytes, arena),
                                    row_names(p, f, a->once, a->once_count, arena));
    if (a->hot_lines > a->hot_lines_least)
        ret[count++] = arena_printf(
            arena, "hot fields lie on %" PRIu64 " cache lines, and fit on %" PRIu64 ": %s",
            a->hot_lines, a->hot_lines_least,
            part_names(p, f, a->hot, a->hot_count, NAMES_SHOWN, arena));
    if (a->order_count > 0)
        ret[count++] = order_sentence(p, f, a, arena);
    if (f->padding_bytes > 0 && f->s->is_complete)
        ret[count++] = arena_printf(arena, "padding: %s", of_size(f, f->padding_bytes, arena));
    for (size_t i = 0; i < a->conflict_count && count < FIELD_SENTENCES; i++)
        ret[count++] = arena_printf(
            arena,
            "false sharing? %s %s on the cache line where %s is %s (threads are not recorded)",
            field_part_name(p, f, &f->parts[a->conflicts[i].written], arena),
            f->parts[a->conflicts[i].written].shared ? "is shared by threads" : "is written",
            field_part_name(p, f, &f->parts[a->conflicts[i].read], arena),
            p->accesses.separate ? "read" : "accessed");
    return count;
}
