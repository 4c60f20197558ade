/* structure_die.c: split a DWARF structure into members for a picture of the cache lines.
 *
 *     struct page {                     page
 *         struct list { *next, *prev }    list.next, list.prev     one part: they move together
 *         union { int n; char *s; }       (union)                  one member
 *         unsigned dirty : 1, pinned : 1  dirty, pinned            one part as well
 *         char name[16]                   name                     one member
 *     };
 *
 * Nested structures are split down to DEPTH_MAX, to show which of their words are hot. Structures
 * of the C++ library are not split, because users cannot change them. A union is one member,
 * because accesses to its members are indistinguishable. Members of a nested structure store the
 * position and alignment of that structure, because it can only move as a whole, with its padding.
 *
 * Alignments follow from sizes by the x86-64 ABI, except explicit ones.
 *
 * The file may be forged: offsets and sizes that exceed the structure are skipped, and the walk is
 * limited. Both make the structure incomplete, and so does an unknown size or alignment. There is
 * no advice on an incomplete structure.
 *
 * A base or member may have no definition in the module: compilers omit the definition of a class
 * whose virtual functions are defined elsewhere. Such a member extends to the next one. */
#include "type/structures.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 3,
    MEMBERS_MAX = 512,
    VIRTUAL_BASES_MAX = 16,
    CHAIN_MAX = 16,
    WORD_BYTES = 8,
    ALIGNMENT_MAX = 4096,
    LOOKED_AT_MAX = 1 << 16,  // Limit of DIEs that are read for the alignment of a member's type.
    // Maximum size of a structure. Displays allocate memory for each word.
    SIZE_MAX_BYTES = 1 << 20,
};

/* A virtual base and its type. */
struct virtual_base {
    Dwarf_Die die, type;
};

struct reader {
    struct type_dies *dies;
    struct profile *p;
    struct profile_structure *s;
    size_t capacity;
    uint32_t part;         // Number of the latest part.
    // End of the word with the latest bit-field; 0 = the latest member is not one.
    uint64_t bits_word;
    unsigned left;         // Number of members that may still be read.
    unsigned left_inside;  // Number of members that may still be read for their alignment only.
    struct profile_member inside; // The nested structure that contains the part; {0} = none.
    // The virtual bases found, in the order of their places: a base precedes its own ones.
    struct virtual_base virtual_bases[VIRTUAL_BASES_MAX];
    unsigned virtual_count;
    unsigned virtual_next; // Index where the next one is inserted.
    bool virtual_more;     // There are more than have room.
};

static bool
structure_die_number(Dwarf_Die *die, unsigned name, uint64_t *ret)
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

static bool
is_data(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);

    // External and merely declared members belong to the class, not to its objects.
    return (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
           !dwarf_hasattr(die, DW_AT_external) && !dwarf_hasattr(die, DW_AT_declaration);
}

/* Return the explicit alignment of DIE; 0 if there is none. */
static uint32_t
said_alignment(Dwarf_Die *die)
{
    uint64_t said;

    return structure_die_number(die, DW_AT_alignment, &said) && said > 0 && said <= ALIGNMENT_MAX &&
                   (said & (said - 1)) == 0
               ? (uint32_t)said
               : 0;
}

static uint32_t
unknown_alignment(struct reader *r)
{
    r->s->is_complete = false;
    return 1;
}

static uint32_t member_alignment(struct reader *r, Dwarf_Die *member, Dwarf_Die *type,
                                 unsigned depth);

static uint32_t
// NOLINTNEXTLINE(misc-no-recursion): no deeper than CHAIN_MAX.
record_alignment(struct reader *r, Dwarf_Die *record, unsigned depth)
{
    uint32_t most = 1;
    Dwarf_Die child, type;

    if (dwarf_hasattr(record, DW_AT_declaration))
        return unknown_alignment(r);
    if (dwarf_child(record, &child) != 0)
        return 1;
    do {
        uint32_t own;

        if (r->left_inside == 0 || --r->left_inside == 0)
            return unknown_alignment(r);
        if (!is_data(&child) || !type_die_of(&child, &type))
            continue;
        own = member_alignment(r, &child, &type, depth + 1);
        most = own > most ? own : most;
    } while (type_die_next(&child));
    return most;
}

/* Return the alignment of a type without members. */
static uint32_t
plain_alignment(struct reader *r, Dwarf_Die *type)
{
    uint64_t size = type_die_size(type), encoding;
    uint32_t alignment = 1;

    if (dwarf_hasattr(type, DW_AT_GNU_vector)) {
        while (alignment < size && alignment < ALIGNMENT_MAX)
            alignment *= 2;
        return alignment;
    }
    if (dwarf_tag(type) == DW_TAG_ptr_to_member_type)
        return WORD_BYTES;
    if (structure_die_number(type, DW_AT_encoding, &encoding) && encoding == DW_ATE_complex_float)
        size /= 2;
    if (size > 0 && size <= 2 * WORD_BYTES && (size & (size - 1)) == 0)
        return (uint32_t)size;
    return type_die_is_empty(r->dies, type) ? 1 : unknown_alignment(r);
}

/* Return the alignment of TYPE, a power of two. If it is unknown, the structure becomes
 * incomplete. */
static uint32_t
// NOLINTNEXTLINE(misc-no-recursion): no deeper than CHAIN_MAX.
alignment_of(struct reader *r, Dwarf_Die *type, unsigned depth)
{
    Dwarf_Die die = *type, element;
    uint32_t said = 0;

    if (depth > CHAIN_MAX || !type_die_peel(type, &element))
        return unknown_alignment(r);
    // A typedef may have another alignment than its type.
    do {
        said = said_alignment(&die);
    } while (said == 0 && type_die_unwrap(&die));
    if (said == 0) {
        type_die_complete(r->dies, &die);
        said = said_alignment(&die);
    }
    if (said != 0)
        return said;
    if (type_die_is_aggregate_tag(dwarf_tag(&die)))
        return record_alignment(r, &die, depth);
    if (dwarf_tag(&die) == DW_TAG_array_type && !dwarf_hasattr(&die, DW_AT_GNU_vector))
        return type_die_of(&die, &element) ? alignment_of(r, &element, depth + 1)
                                           : unknown_alignment(r);
    return plain_alignment(r, &die);
}

/* Return the alignment of MEMBER or of its TYPE, whichever is larger. MEMBER may be a base. */
static uint32_t
// NOLINTNEXTLINE(misc-no-recursion): no deeper than CHAIN_MAX.
member_alignment(struct reader *r, Dwarf_Die *member, Dwarf_Die *type, unsigned depth)
{
    uint32_t said = said_alignment(member), own = alignment_of(r, type, depth);

    return said > own ? said : own;
}

/* Return true if objects of TYPE, by its name or the type of DIE, are meant for sharing between
 * threads. */
static bool
structure_die_is_shared(Dwarf_Die *die, const char *type)
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
        if (strpbrk(type, "*&") == NULL && strstr(type, words[i]) != NULL)
            return true;
    return false;
}

static void
add_member(struct reader *r, const struct profile_member *m)
{
    struct profile_structure *s = r->s;

    if (s->member_count >= MEMBERS_MAX || m->offset > s->size || m->size > s->size - m->offset) {
        s->is_complete = false;
        return;
    }
    arena_grow(&r->p->arena, &s->members, &r->capacity, s->member_count, sizeof *s->members);
    s->members[s->member_count++] = *m;
}

static void read_members(struct reader *r, Dwarf_Die *aggregate, const char *prefix,
                         uint64_t offset, bool fixed, unsigned depth);

/* Set *RET_OFFSET to the offset of the member DIE in its structure. For a bit-field, also set
 * *RET_BIT and *RET_BITS to its offset and width in bits. Return false if the offset is not a
 * constant, or if a bit-field does not fit into its storage. */
static bool
structure_die_place_of(Dwarf_Die *die, uint64_t *ret_offset, uint64_t *ret_bit, uint32_t *ret_bits)
{
    uint64_t bits = 0, at = 0, back = 0, storage = 0;

    *ret_offset = *ret_bit = 0;
    *ret_bits = 0;
    if (dwarf_hasattr(die, DW_AT_data_member_location) &&
        !structure_die_number(die, DW_AT_data_member_location, ret_offset))
        return false;
    if (!structure_die_number(die, DW_AT_bit_size, &bits) || bits == 0 || bits > 128)
        return true;
    *ret_bits = (uint32_t)bits;
    if (structure_die_number(die, DW_AT_data_bit_offset, &at)) {
        *ret_bit = at;
    // DWARF 3 counts from the storage's high end.
    } else if (structure_die_number(die, DW_AT_bit_offset, &back)) {
        if (!structure_die_number(die, DW_AT_byte_size, &storage) || back + bits > storage * 8)
            return false;
        *ret_bit = *ret_offset * 8 + storage * 8 - back - bits;
    } else {
        *ret_bit = *ret_offset * 8;
    }
    *ret_offset = *ret_bit / 8;
    return true;
}

/* Begin a new part with M, a member of the outer structure. Bit-fields in the same word share a
 * part. */
static void
begin_part(struct reader *r, const struct profile_member *m, bool is_inside)
{
    if (m->bits == 0 || r->bits_word == 0 || m->offset >= r->bits_word)
        r->part++;
    r->bits_word = m->bits > 0 ? (m->offset / WORD_BYTES + 1) * WORD_BYTES : 0;
    r->inside = is_inside ? *m : (struct profile_member){0};
}

/* Add the members of RECORD instead of M, which DIE, a member or base, describes. FACT is the type.
 * Return false if RECORD is not split. */
static bool
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
split(struct reader *r, Dwarf_Die *die, Dwarf_Die *record, const struct type_fact *fact,
      const struct profile_member *m, const char *prefix, unsigned depth)
{
    const char *own = dwarf_diename(die);
    bool is_base = dwarf_tag(die) == DW_TAG_inheritance;
    size_t before = r->s->member_count;

    if (depth >= DEPTH_MAX || !is_record(record) || m->shared ||
        strncmp(fact->name, "std::", 5) == 0 || dwarf_hasattr(record, DW_AT_declaration))
        return false;
    if (own != NULL && !is_base)
        prefix = arena_printf(r->dies->arena, "%s%s.", prefix, own);
    read_members(r, record, prefix, m->offset, m->fixed, depth + 1);
    // A base without members occupies no space, but a member does.
    return is_base || r->s->member_count > before;
}

/* Add M, which the member DIE describes. PEELED is the type, and TYPE its name. */
static void
add_named(struct reader *r, Dwarf_Die *die, Dwarf_Die *peeled, const char *type,
          const char *prefix, struct profile_member *m)
{
    const char *own = dwarf_diename(die);

    if (own == NULL)
        own = dwarf_tag(die) == DW_TAG_inheritance     ? type
              : dwarf_tag(peeled) == DW_TAG_union_type ? "(union)"
                                                       : "(unnamed)";
    m->part = r->part;
    m->part_offset = r->inside.offset;
    m->part_size = r->inside.size;
    m->part_alignment = r->inside.alignment;
    m->name = strtab_clean_id(&r->p->strings, arena_printf(r->dies->arena, "%s%s", prefix, own));
    m->type = strtab_clean_id(&r->p->strings, type);
    add_member(r, m);
}

/* Add M, the member DIE of TYPE, whose size is unknown. size_declared sets it later. */
static void
take_declared(struct reader *r, Dwarf_Die *die, Dwarf_Die *type, const char *prefix,
              struct profile_member *m, unsigned depth)
{
    Dwarf_Die peeled;
    const char *name;

    // Empty members, such as a trailing flexible array, have no accesses.
    if (m->offset <= r->s->size && type_die_is_empty(r->dies, type))
        return;
    r->s->is_complete = false;
    if (!type_die_peel(type, &peeled) || !is_record(&peeled) ||
        !dwarf_hasattr(&peeled, DW_AT_declaration))
        return;
    m->alignment = 1;
    name = debuginfo_name(r->dies->d, &peeled);
    if (depth == 0)
        begin_part(r, m, false);
    add_named(r, die, &peeled, name != NULL ? name : "(unnamed)", prefix, m);
}

/* Add M, the member DIE of TYPE, whose offset is known. BIT is its offset in bits. */
static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
take_placed(struct reader *r, Dwarf_Die *die, Dwarf_Die *type, const char *prefix,
            struct profile_member *m, uint64_t bit, unsigned depth)
{
    const char *own = dwarf_diename(die);
    struct type_fact fact = {0};
    Dwarf_Die peeled = *type;

    m->fixed = m->fixed || dwarf_tag(die) == DW_TAG_inheritance ||
               (depth == 0 && own != NULL && strncmp(own, "_vptr", 5) == 0);
    if (!type_die_describe(r->dies, type, &fact)) {
        take_declared(r, die, type, prefix, m, depth);
        return;
    }
    if (type_die_peel(type, &peeled))
        type_die_complete(r->dies, &peeled);
    m->size = m->bits > 0 ? (bit % 8 + m->bits + 7) / 8 : fact.size;
    m->alignment = member_alignment(r, die, type, 0);
    m->shared = structure_die_is_shared(type, fact.name);
    if (depth == 0)
        begin_part(r, m, is_record(&peeled));
    if (split(r, die, &peeled, &fact, m, prefix, depth))
        return;
    m->may_be_empty = is_record(&peeled) && fact.size == 1;
    add_named(r, die, &peeled, fact.name, prefix, m);
}

/* Record the virtual base DIE of TYPE. One base may be reached by several paths; the first one
 * determines its place. */
static void
note_virtual_base(struct reader *r, Dwarf_Die *die, Dwarf_Die *type)
{
    struct virtual_base *v = r->virtual_bases, base = {*die, *type};
    unsigned at = 0;

    type_die_complete(r->dies, &base.type);
    while (at < r->virtual_count && v[at].type.addr != base.type.addr)
        at++;
    if (at < r->virtual_next)
        return;
    if (at == VIRTUAL_BASES_MAX) {
        r->virtual_more = true;
        return;
    }
    r->virtual_count += at == r->virtual_count;
    memmove(&v[r->virtual_next + 1], &v[r->virtual_next], (at - r->virtual_next) * sizeof *v);
    v[r->virtual_next++] = base;
}

/* Add the member DIE of TYPE. Its structure begins at the offset BASE of the outer structure. */
static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
take_member(struct reader *r, Dwarf_Die *die, Dwarf_Die *type, const char *prefix, uint64_t base,
            bool fixed, unsigned depth)
{
    struct profile_member m = {.fixed = fixed};
    uint64_t bit;

    if (structure_die_place_of(die, &m.offset, &bit, &m.bits)) {
        m.offset += base;
        take_placed(r, die, type, prefix, &m, bit, depth);
        return;
    }
    r->s->is_complete = false;
    // The virtual bases of members lie within the members.
    if (dwarf_tag(die) == DW_TAG_inheritance && *prefix == '\0')
        note_virtual_base(r, die, type);
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
        if (r->left == 0 || --r->left == 0) {
            r->s->is_complete = false;
            return;
        }
        if (is_data(&die) && type_die_of(&die, &type))
            take_member(r, &die, &type, prefix, offset, fixed, depth);
        else if (is_data(&die) || (dwarf_tag(&die) == DW_TAG_variant_part && depth == 0))
            r->s->is_complete = false; // Different objects have different variants.
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

/* Remove empty members of S, which is sorted: those at the offset of another member, such as an
 * empty base or a [[no_unique_address]] member. */
static void
drop_empty(struct profile_structure *s)
{
    uint64_t end = 0; // End of the members kept so far.
    size_t kept = 0;

    for (size_t i = 0; i < s->member_count; i++) {
        const struct profile_member *m = &s->members[i];
        bool overlaps =
            m->offset < end || (i + 1 < s->member_count && m[1].offset < m->offset + m->size);

        if (m->may_be_empty && overlaps)
            continue;
        end = m->offset + m->size > end ? m->offset + m->size : end;
        s->members[kept++] = *m;
    }
    s->member_count = kept;
}

/* Return true if no member of S, which is sorted, overlaps the previous one. Bit-fields of one part
 * may overlap. */
static bool
are_separate(const struct profile_structure *s)
{
    for (size_t i = 1; i < s->member_count; i++) {
        const struct profile_member *a = &s->members[i - 1], *b = &s->members[i];

        if (b->offset < a->offset + a->size && !(a->bits > 0 && b->bits > 0 && a->part == b->part))
            return false;
    }
    return true;
}

static void
sort_members(struct profile_structure *s)
{
    if (s->member_count > 1)
        qsort(s->members, s->member_count, sizeof *s->members, by_offset);
}

/* Set *RET to the offset of the only virtual base by the rules of the C++ ABI. SIZE is 0 if
 * unknown. A base that has only a pointer to virtual functions may share that pointer with the
 * class, which then has no separate one. Any other base follows all members. Return false if the
 * members or sizes contradict the result. */
static bool
virtual_base_place(const struct reader *r, uint64_t size, uint32_t alignment, uint64_t *ret)
{
    const struct profile_structure *s = r->s;
    uint64_t end = 0;

    for (size_t i = 0; i < s->member_count; i++) {
        const struct profile_member *m = &s->members[i];

        if (m->offset + m->size > end)
            end = m->offset + m->size;
        if (m->size == 0 && m->offset >= end)
            return false;
    }
    *ret = 0;
    if (s->member_count == 0 || s->members[0].offset > 0)
        return size == WORD_BYTES || (size == 0 && s->member_count > 0 &&
                                      s->members[0].offset == WORD_BYTES);
    *ret = (end + alignment - 1) / alignment * alignment;
    return size == 0 || (*ret + size + s->alignment - 1) / s->alignment * s->alignment == s->size;
}

/* Return the alignment of the virtual base of TYPE. Compilers omit only the definitions of classes
 * with virtual functions. */
static uint32_t
virtual_alignment(struct reader *r, Dwarf_Die *type)
{
    return type_die_size(type) > 0 ? alignment_of(r, type, 0) : WORD_BYTES;
}

/* Add the only virtual base. */
static void
take_virtual_base(struct reader *r)
{
    struct profile_member m = {.fixed = true};
    struct virtual_base base = r->virtual_bases[0];

    if (!virtual_base_place(r, type_die_size(&base.type), virtual_alignment(r, &base.type),
                            &m.offset))
        return;
    take_placed(r, &base.die, &base.type, "", &m, 0, 0);
}

/* Return the end of the members from FIRST on, at least END; 0 if the size of one is unknown. */
static uint64_t
end_of_members(const struct profile_structure *s, size_t first, uint64_t end)
{
    for (size_t i = first; i < s->member_count; i++) {
        const struct profile_member *m = &s->members[i];

        if (m->size == 0)
            return 0;
        end = m->offset + m->size > end ? m->offset + m->size : end;
    }
    return end;
}

/* Add virtual base number I of several after *END, and advance *END. SHARES: the class has no
 * pointer to virtual functions of its own, so it shares that of its first base with nothing else.
 * Return false if the next base's place is unknown. */
static bool
take_virtual_base_at(struct reader *r, unsigned i, bool *shares, uint64_t *end)
{
    struct virtual_base base = r->virtual_bases[i];
    bool has_functions = dwarf_hasattr(&base.type, DW_AT_containing_type);
    uint64_t size = type_die_size(&base.type);
    struct profile_member m = {.fixed = true};
    size_t first = r->s->member_count;
    bool is_shared = *shares && has_functions && size == WORD_BYTES;

    r->virtual_next = i + 1;
    m.offset = is_shared ? 0 : round_up(*end, virtual_alignment(r, &base.type));
    *shares = *shares && !is_shared;
    take_placed(r, &base.die, &base.type, "", &m, 0, 0);
    if (is_shared || r->s->member_count == first)
        return true;
    *end = end_of_members(r->s, first, *end);
    // Padding at the end of a base without functions may or may not have the next base.
    return i + 1 == r->virtual_count ||
           (*end != 0 && (has_functions || *end == m.offset + size));
}

/* Add several virtual bases, which follow the other members. Add none unless their sizes fit. */
static void
take_virtual_bases(struct reader *r)
{
    struct profile_structure *s = r->s;
    size_t before = s->member_count;
    bool shares = before == 0 || s->members[0].offset > 0;
    uint64_t end = end_of_members(s, 0, 0);
    bool is_known = end != 0 || before == 0;

    for (unsigned i = 0; i < r->virtual_count && is_known; i++)
        is_known = take_virtual_base_at(r, i, &shares, &end);
    if (!is_known || shares || r->virtual_more ||
        (end != 0 && round_up(end, s->alignment) != s->size))
        s->member_count = before;
}

/* Extend members of unknown size, which are sorted, to the next member. */
static void
size_declared(struct profile_structure *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->member_count; i++) {
        struct profile_member m = s->members[i];

        if (m.size == 0)
            m.size = (i + 1 < s->member_count ? s->members[i + 1].offset : s->size) - m.offset;
        if (m.size > 0)
            s->members[kept++] = m;
    }
    s->member_count = kept;
}

bool
structure_read(struct type_dies *dies, Dwarf_Die *aggregate, struct profile *p,
               struct profile_structure *ret)
{
    struct reader r = {
        .dies = dies, .p = p, .s = ret, .left = 4 * MEMBERS_MAX, .left_inside = LOOKED_AT_MAX};

    *ret = (struct profile_structure){.size = type_die_size(aggregate),
                                      .is_union = dwarf_tag(aggregate) == DW_TAG_union_type,
                                      .is_complete = true};
    if (ret->size == 0 || ret->size > SIZE_MAX_BYTES)
        return false;
    ret->alignment = alignment_of(&r, aggregate, 0);
    if (ret->is_union) {
        struct profile_member all = {.name = strtab_clean_id(&p->strings, "(union)"),
                                     .size = ret->size,
                                     .alignment = ret->alignment,
                                     .part = 1};

        add_member(&r, &all);
        return true;
    }
    read_members(&r, aggregate, "", 0, false, 0);
    sort_members(ret);
    // DWARF gives the offset of a virtual base as a program that reads the object. Without an
    // object, the rules of the C++ ABI determine it.
    if (r.virtual_count == 1)
        take_virtual_base(&r);
    else if (r.virtual_count > 1)
        take_virtual_bases(&r);
    sort_members(ret);
    size_declared(ret);
    drop_empty(ret);
    ret->is_complete = ret->is_complete && are_separate(ret);
    return true;
}
