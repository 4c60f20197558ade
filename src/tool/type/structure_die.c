/* structure_die.c: one structure out of DWARF, taken apart into members that a picture of its cache
 * lines can show.
 *
 *     struct page {                     page
 *         struct list { *next, *prev }    list.next, list.prev     one part: they move together
 *         union { int n; char *s; }       (union)                  one member
 *         unsigned dirty : 1, pinned : 1  dirty, pinned            one part, too
 *         char name[16]                   name                     one member
 *     };
 *
 * A structure inside is taken apart as deep as DEPTH_MAX, because the reader wants to know which
 * of its words are hot; what the C++ library defines is not, because nobody can change it. Members
 * that overlap (unions) are one, since it is not known which of them an access meant.
 *
 * The file may be made up: offsets and sizes that do not fit into the structure are left out, what
 * is looked at is bounded, and either makes the structure incomplete, so that no advice is given.
 */
#include "type/structure_die.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 3,
    MEMBERS_MAX = 512,
    CHAIN_MAX = 16,
    ALIGNMENT_MAX = 4096,
    SIZE_MAX_BYTES = 1 << 20, // Who shows a structure has memory for each word of it.
};

struct reader {
    struct type_dies *dies;
    struct profile *p;
    struct profile_structure *s;
    size_t capacity;
    uint32_t part;         // The latest.
    uint64_t bits_word;    // Where the storage of the latest bit-field ended; 0 = none before.
    unsigned left;         // Members that may still be looked at.
};

static bool
number(Dwarf_Die *die, unsigned name, uint64_t *ret)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;

    if (dwarf_attr(die, name, &attribute) == NULL || dwarf_formudata(&attribute, &value) != 0)
        return false;
    *ret = value;
    return true;
}

static bool
is_record(Dwarf_Die *type)
{
    return dwarf_tag(type) == DW_TAG_structure_type || dwarf_tag(type) == DW_TAG_class_type;
}

/* A power of two that objects of TYPE lie at multiples of. */
static uint32_t
// NOLINTNEXTLINE(misc-no-recursion): no deeper than CHAIN_MAX.
alignment_of(Dwarf_Die *type, unsigned depth, unsigned *left)
{
    uint64_t said = 0, size;
    uint32_t most = 1;
    Dwarf_Die die, child, member;

    if (depth > CHAIN_MAX || !type_die_peel(type, &die))
        return 1;
    if (number(&die, DW_AT_alignment, &said) && said > 0 && said <= ALIGNMENT_MAX &&
        (said & (said - 1)) == 0)
        return (uint32_t)said;
    die = type_die_follow(&die);
    if (dwarf_tag(&die) == DW_TAG_array_type)
        return type_die_of(&die, &member) ? alignment_of(&member, depth + 1, left) : 1;
    if (!is_record(&die) && dwarf_tag(&die) != DW_TAG_union_type) {
        size = type_die_size(&die);
        return size > 0 && size <= 16 && (size & (size - 1)) == 0 ? (uint32_t)size : 1;
    }
    if (dwarf_child(&die, &child) != 0)
        return 1;
    do {
        int tag = dwarf_tag(&child);
        uint32_t own = 1;

        if (*left == 0 || --*left == 0)
            return most;
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
            dwarf_hasattr(&child, DW_AT_external) || !type_die_of(&child, &member))
            continue;
        if (number(&child, DW_AT_alignment, &said) && said > 0 && said <= ALIGNMENT_MAX &&
            (said & (said - 1)) == 0)
            own = (uint32_t)said;
        else
            own = alignment_of(&member, depth + 1, left);
        if (own > most)
            most = own;
    } while (type_die_next(&child));
    return most;
}

/* Whether threads are meant to use what is called TYPE or is of the type DIE together. */
static bool
is_shared(Dwarf_Die *die, const char *type)
{
    static const char *const words[] = {"atomic", "mutex", "spinlock", "rwlock", "pthread_cond"};
    Dwarf_Die at = *die;

    for (unsigned i = 0; i < CHAIN_MAX; i++) {
        int tag = dwarf_tag(&at);

        if (tag == DW_TAG_atomic_type)
            return true;
        if ((tag != DW_TAG_typedef && tag != DW_TAG_volatile_type && tag != DW_TAG_const_type) ||
            !type_die_of(&at, &at))
            break;
    }
    for (size_t i = 0; i < countof(words); i++)
        if (strchr(type, '*') == NULL && strstr(type, words[i]) != NULL)
            return true;
    return false;
}

static void
add_member(struct reader *r, const struct profile_member *m)
{
    struct profile_structure *s = r->s;

    if (s->member_count >= MEMBERS_MAX || m->size == 0 || m->offset > s->size ||
        m->size > s->size - m->offset) {
        // An array of open length at the end has no size, and is no member of what is measured.
        s->is_complete = s->is_complete && m->size == 0 && m->offset <= s->size;
        return;
    }
    arena_grow(&r->p->arena, &s->members, &r->capacity, s->member_count, sizeof *s->members);
    s->members[s->member_count++] = *m;
}

static void read_members(struct reader *r, Dwarf_Die *aggregate, const char *prefix,
                         uint64_t offset, bool fixed, unsigned depth);

/* Where the member DIE begins in its structure, in bits if BITS is not NULL and it is a bit-field.
 * False if that is no number. */
static bool
place_of(Dwarf_Die *die, uint64_t *ret_offset, uint64_t *ret_bit, uint32_t *ret_bits)
{
    uint64_t bits = 0, at = 0, back = 0, storage = 0;

    *ret_offset = *ret_bit = 0;
    *ret_bits = 0;
    if (dwarf_hasattr(die, DW_AT_data_member_location) &&
        !number(die, DW_AT_data_member_location, ret_offset))
        return false;
    if (!number(die, DW_AT_bit_size, &bits) || bits == 0 || bits > 128)
        return true;
    *ret_bits = (uint32_t)bits;
    if (number(die, DW_AT_data_bit_offset, &at)) {
        *ret_bit = at;
    } else if (number(die, DW_AT_bit_offset, &back)) { // Of DWARF 3: from the storage's high end.
        if (!number(die, DW_AT_byte_size, &storage) || back + bits > storage * 8)
            return false;
        *ret_bit = *ret_offset * 8 + storage * 8 - back - bits;
    } else {
        *ret_bit = *ret_offset * 8;
    }
    *ret_offset = *ret_bit / 8;
    return true;
}

/* Take in the member DIE, whose type is TYPE and which begins at OFFSET of the whole. */
static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
take_member(struct reader *r, Dwarf_Die *die, Dwarf_Die *type, const char *prefix, uint64_t base,
            bool fixed, unsigned depth)
{
    const char *own = dwarf_diename(die);
    struct arena *arena = r->dies->arena;
    struct type_fact fact = {0};
    struct profile_member m = {.fixed = fixed};
    Dwarf_Die peeled;
    uint64_t offset, bit;
    unsigned left = MEMBERS_MAX;

    if (!place_of(die, &offset, &bit, &m.bits)) {
        r->s->is_complete = false;
        return;
    }
    m.offset = base + offset;
    if (!type_die_describe(r->dies, type, &fact)) {
        add_member(r, &m);
        return;
    }
    if (m.bits > 0) {
        m.size = (bit % 8 + m.bits + 7) / 8;
        if (depth == 0 && (r->bits_word == 0 || m.offset >= r->bits_word))
            r->part++;
        r->bits_word = (m.offset / 8 + 1) * 8;
    } else {
        m.size = fact.size;
        r->bits_word = 0;
        if (depth == 0)
            r->part++;
    }
    m.part = r->part;
    m.alignment = m.bits > 0 ? (uint32_t)(fact.size <= 8 ? fact.size : 1)
                             : alignment_of(type, 0, &left);
    m.shared = is_shared(type, fact.name);
    m.fixed = fixed || dwarf_tag(die) == DW_TAG_inheritance ||
              (own != NULL && strncmp(own, "_vptr", 5) == 0);
    if (type_die_peel(type, &peeled))
        peeled = type_die_follow(&peeled);
    if (depth < DEPTH_MAX && is_record(&peeled) && !m.shared &&
        strncmp(fact.name, "std::", 5) != 0 && !dwarf_hasattr(&peeled, DW_AT_declaration)) {
        const char *inner = own == NULL || dwarf_tag(die) == DW_TAG_inheritance
                                ? prefix
                                : arena_printf(arena, "%s%s.", prefix, own);

        read_members(r, &peeled, inner, m.offset, m.fixed, depth + 1);
        return;
    }
    m.name = strtab_clean_id(
        &r->p->strings, arena_printf(arena, "%s%s", prefix,
                                     own != NULL                               ? own
                                     : dwarf_tag(die) == DW_TAG_inheritance    ? fact.name
                                     : dwarf_tag(&peeled) == DW_TAG_union_type ? "(union)"
                                                                               : "(unnamed)"));
    m.type = strtab_clean_id(&r->p->strings, fact.name);
    add_member(r, &m);
}

static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
read_members(struct reader *r, Dwarf_Die *aggregate, const char *prefix, uint64_t offset,
             bool fixed, unsigned depth)
{
    Dwarf_Die die, type;

    if (dwarf_child(aggregate, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);

        if (r->left == 0 || --r->left == 0) {
            r->s->is_complete = false;
            return;
        }
        // What is external or only declared is of the class, not of its objects.
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
            dwarf_hasattr(&die, DW_AT_external) || dwarf_hasattr(&die, DW_AT_declaration) ||
            !type_die_of(&die, &type))
            continue;
        take_member(r, &die, &type, prefix, offset, fixed, depth);
    } while (type_die_next(&die));
}

static int
by_offset(const void *left, const void *right)
{
    const struct profile_member *a = left, *b = right;

    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

/* Whether no member of S, in order, begins before the one before it has ended, but for bit-fields
 * of one part. */
static bool
are_apart(const struct profile_structure *s)
{
    for (size_t i = 1; i < s->member_count; i++) {
        const struct profile_member *a = &s->members[i - 1], *b = &s->members[i];

        if (b->offset < a->offset + a->size && !(a->bits > 0 && b->bits > 0 && a->part == b->part))
            return false;
    }
    return true;
}

bool
structure_read(struct type_dies *dies, Dwarf_Die *aggregate, struct profile *p,
               struct profile_structure *ret)
{
    struct reader r = {.dies = dies, .p = p, .s = ret, .left = 4 * MEMBERS_MAX};
    unsigned left = 4 * MEMBERS_MAX;

    *ret = (struct profile_structure){.size = type_die_size(aggregate),
                                      .alignment = alignment_of(aggregate, 0, &left),
                                      .is_union = dwarf_tag(aggregate) == DW_TAG_union_type,
                                      .is_complete = true};
    if (ret->size == 0 || ret->size > SIZE_MAX_BYTES)
        return false;
    if (ret->is_union) {
        struct profile_member all = {.name = strtab_clean_id(&p->strings, "(union)"),
                                     .size = ret->size,
                                     .alignment = ret->alignment,
                                     .part = 1};

        add_member(&r, &all);
        return true;
    }
    read_members(&r, aggregate, "", 0, false, 0);
    if (ret->member_count > 1)
        qsort(ret->members, ret->member_count, sizeof *ret->members, by_offset);
    ret->is_complete = ret->is_complete && are_apart(ret);
    return true;
}
