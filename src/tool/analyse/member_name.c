/* member_name.c: the member of a structure at an offset in a block. */
#include "analyse/fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FRONT_MAX = 16, WORD_BYTES = 8 };

static bool
has_end(const char *text, const char *end)
{
    size_t length = strlen(text);

    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* Return the structure called NAME, a string id, or NULL. */
static const struct profile_structure *
structure_called(const struct profile *p, uint32_t name)
{
    for (size_t i = 0; i < p->structure_count && name != 0; i++)
        if (p->structures[i].name == name && p->structures[i].size > 0)
            return &p->structures[i];
    return NULL;
}

/* Return the number of elements in TYPE, the type of a member: N of "x[N]"; 1 if it is no array. */
static uint64_t
elements_of(const char *type)
{
    const char *bracket = strrchr(type, '[');
    uint64_t count = bracket != NULL ? strtoull(bracket + 1, NULL, 10) : 0;

    // The elements of "x[2][3]" are arrays themselves.
    if (bracket == NULL || count == 0 || type[strlen(type) - 1] != ']' ||
        (bracket > type && bracket[-1] == ']'))
        return 1;
    return count;
}

/* Return the name of the member of S at OFF, which is less than its size; NULL if it is padding. */
static const char *
member_in(const struct profile *p, const struct profile_structure *s, uint64_t off,
          struct arena *arena)
{
    for (size_t i = 0; i < s->member_count; i++) {
        const struct profile_member *m = &s->members[i];
        uint64_t within = off - m->offset, count, size;
        const char *name = profile_string(p, m->name);

        if (within >= m->size)
            continue;
        count = elements_of(profile_string(p, m->type));
        size = m->size / count;
        if (count > 1 && size > 0) {
            name = arena_printf(arena, "%s[%" PRIu64 "]", name, within / size);
            within %= size;
        }
        return within == 0 ? name : arena_printf(arena, "%s + %" PRIu64, name, within);
    }
    return NULL;
}

const char *
member_name(struct profile *p, const struct profile_site *site, uint64_t size_bytes, uint64_t off,
            struct arena *arena)
{
    const struct profile_structure *s;
    const char *type, *name;
    bool array;

    if (site->verdict < VERDICT_LIKELY || site->type == 0)
        return NULL;
    type = profile_string(p, site->type);
    array = has_end(type, "[]");
    if (has_end(type, "*[]"))
        return off % WORD_BYTES == 0 ? arena_printf(arena, "[%" PRIu64 "]", off / WORD_BYTES)
                                     : NULL;
    s = structure_called(p, fields_type_name(p, site));
    if (s == NULL)
        return NULL;
    // An allocation wrapper's header may be in front.
    for (uint64_t front = WORD_BYTES; front <= FRONT_MAX; front += WORD_BYTES)
        if (site->verdict == VERDICT_LIKELY && !array && size_bytes == s->size + front) {
            if (off < front)
                return NULL;
            off -= front;
            break;
        }
    if (off >= s->size && !array)
        return NULL;
    name = member_in(p, s, off % s->size, arena);
    if (name == NULL || !array || size_bytes == s->size)
        return name;
    return arena_printf(arena, "[%" PRIu64 "].%s", off / s->size, name);
}

const char *
member_of_variable(const struct profile *p, const struct variable_members *v, struct arena *arena)
{
    uint64_t off = v->element_bytes != 0 ? v->off % v->element_bytes : v->off;
    const char *name = v->structure.size > off ? member_in(p, &v->structure, off, arena) : NULL;

    if (v->element_bytes == 0)
        return name;
    if (v->structure.size == 0)
        return off == 0 ? arena_printf(arena, "[%" PRIu64 "]", v->off / v->element_bytes) : NULL;
    return name != NULL
               ? arena_printf(arena, "[%" PRIu64 "].%s", v->off / v->element_bytes, name)
               : NULL;
}
