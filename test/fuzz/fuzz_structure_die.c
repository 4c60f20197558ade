/* fuzz_structure_die.c: read any bytes as a tree of DIEs. The target writes them as a DWARF unit in
 * an ELF file in memory, because elfutils would refuse most bytes as a file. So heaptap's handling
 * of members at any offset, of types that contain themselves and of impossible sizes is tested, but
 * elfutils is not.
 *
 * A DIE is a byte for the tag (low bits) and whether children follow, a byte for the number of
 * levels that end after the DIE, two bytes for the attributes present, then the values of these. A
 * number is one byte, or a mark and eight bytes. A name is its length and its bytes. A reference is
 * the index of a DIE. */
/* covers: structure_die.c type_die.c */
#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "type/structures.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    DIES_MAX = 200,
    NAME_MAX_BYTES = 15,
    SECTIONS = 4, // None, .debug_info, .debug_abbrev, .shstrtab.
    HEADER_BYTES = 11, // Sizes for a unit of version 4.
    MEMBERS_LIMIT = 512,
    SIZE_LIMIT = 1 << 20,
};

static const uint8_t tags[] = {
    DW_TAG_structure_type, DW_TAG_member,        DW_TAG_base_type,      DW_TAG_pointer_type,
    DW_TAG_typedef,        DW_TAG_array_type,    DW_TAG_subrange_type,  DW_TAG_union_type,
    DW_TAG_class_type,     DW_TAG_inheritance,   DW_TAG_const_type,     DW_TAG_volatile_type,
    DW_TAG_atomic_type,    DW_TAG_namespace,     DW_TAG_subroutine_type, DW_TAG_enumeration_type,
};

static const struct {
    uint8_t name, form;
} attributes[] = {
    {DW_AT_name, DW_FORM_string},         {DW_AT_type, DW_FORM_ref4},
    {DW_AT_byte_size, DW_FORM_data8},     {DW_AT_data_member_location, DW_FORM_data8},
    {DW_AT_bit_size, DW_FORM_data8},      {DW_AT_data_bit_offset, DW_FORM_data8},
    {DW_AT_bit_offset, DW_FORM_data8},    {DW_AT_count, DW_FORM_data8},
    {DW_AT_upper_bound, DW_FORM_data8},   {DW_AT_declaration, DW_FORM_flag_present},
    {DW_AT_external, DW_FORM_flag_present}, {DW_AT_specification, DW_FORM_ref4},
    {DW_AT_alignment, DW_FORM_data8},
};

struct bytes {
    uint8_t *v;
    size_t length;
};

struct input {
    const uint8_t *at, *end;
};

struct made {
    struct bytes info, abbreviations;
    uint32_t offsets[DIES_MAX]; // Offset of each DIE in its unit.
    uint32_t count, language;
    struct {
        size_t at;
        uint32_t to;
    } references[2 * DIES_MAX]; // Written when all offsets are known.
    uint32_t reference_count;
};

static void
structure_die_put(struct bytes *b, const void *bytes, size_t count)
{
    uint8_t *more = realloc(b->v, b->length + count + 1);

    if (more == NULL)
        abort();
    b->v = more;
    memcpy(b->v + b->length, bytes, count);
    b->length += count;
}

static void
put_byte(struct bytes *b, unsigned byte)
{
    structure_die_put(b, &(uint8_t){(uint8_t)byte}, 1);
}

/* Write as LEB128, in two bytes at most. */
static void
put_number(struct bytes *b, unsigned x)
{
    if (x >= 128)
        put_byte(b, (x & 127) | 128);
    put_byte(b, x >= 128 ? x >> 7 : x);
}

static unsigned
take(struct input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static uint64_t
structure_die_take_number(struct input *in)
{
    unsigned mark = take(in);
    uint64_t x = 0;

    if (mark < 0xe0)
        return mark;
    if (mark >= 0xf0)
        return (UINT64_C(1) << ((mark & 15) * 4 + 3)) - (mark & 1);
    for (unsigned i = 0; i < 8; i++)
        x = x << 8 | take(in);
    return x;
}

static void
put_value(struct made *m, unsigned form, struct input *in)
{
    if (form == DW_FORM_string) {
        for (unsigned i = take(in) & NAME_MAX_BYTES; i > 0; i--) {
            unsigned c = take(in);

            put_byte(&m->info, c != 0 ? c : 'x');
        }
        put_byte(&m->info, 0);
    } else if (form == DW_FORM_ref4) {
        m->references[m->reference_count].at = m->info.length;
        m->references[m->reference_count++].to = take(in);
        structure_die_put(&m->info, &(uint32_t){0}, 4);
    } else if (form == DW_FORM_data8) {
        structure_die_put(&m->info, &(uint64_t){structure_die_take_number(in)}, 8);
    }
}

/* Read the next DIE of IN; return the change of depth, or the end mark. */
static void
put_die(struct made *m, struct input *in, unsigned *depth)
{
    unsigned tag = take(in), ends = take(in), has = take(in);
    bool opens = (tag & 0x80) != 0;

    has |= take(in) << 8;
    m->offsets[m->count++] = (uint32_t)m->info.length;
    put_number(&m->info, m->count + 1);
    put_number(&m->abbreviations, m->count + 1);
    put_number(&m->abbreviations, tags[(tag & 0x7f) % sizeof tags]);
    put_byte(&m->abbreviations, opens);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if ((has >> i & 1) == 0)
            continue;
        put_number(&m->abbreviations, attributes[i].name);
        put_number(&m->abbreviations, attributes[i].form);
        put_value(m, attributes[i].form, in);
    }
    structure_die_put(&m->abbreviations, "\0", 2);
    *depth += opens;
    for (unsigned i = opens ? 0 : ends & 3; i > 0 && *depth > 0; i--, --*depth)
        put_byte(&m->info, 0);
}

static void
make_sections(struct made *m, struct input *in)
{
    uint32_t length;
    unsigned depth = 0;

    structure_die_put(&m->info, (const uint8_t[HEADER_BYTES]){0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8},
                      HEADER_BYTES);
    structure_die_put(
        &m->abbreviations,
        (const uint8_t[]){1, DW_TAG_compile_unit, 1, DW_AT_language, DW_FORM_data1, 0, 0}, 7);
    put_byte(&m->info, 1);
    put_byte(&m->info, take(in) & 1 ? DW_LANG_C_plus_plus : DW_LANG_C);
    while (in->at < in->end && m->count < DIES_MAX)
        put_die(m, in, &depth);
    for (; depth > 0; depth--)
        put_byte(&m->info, 0);
    put_byte(&m->info, 0);
    put_byte(&m->abbreviations, 0);
    for (uint32_t i = 0; i < m->reference_count; i++)
        memcpy(m->info.v + m->references[i].at, &m->offsets[m->references[i].to % m->count], 4);
    length = (uint32_t)m->info.length - 4;
    memcpy(m->info.v, &length, 4);
}

/* Build an ELF file with these sections. */
static struct bytes
structure_die_make_file(const struct made *m)
{
    static const char names[] = "\0.debug_info\0.debug_abbrev\0.shstrtab";
    const struct bytes v[SECTIONS] = {
        {0}, m->info, m->abbreviations, {(uint8_t *)names, sizeof names}};
    static const uint32_t starts[SECTIONS] = {0, 1, 13, 27};
    Elf64_Shdr sections[SECTIONS] = {0};
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                                     EV_CURRENT},
                         .e_type = ET_REL,
                         .e_machine = EM_X86_64,
                         .e_version = EV_CURRENT,
                         .e_ehsize = sizeof header,
                         .e_shoff = sizeof header,
                         .e_shentsize = sizeof *sections,
                         .e_shnum = SECTIONS,
                         .e_shstrndx = SECTIONS - 1};
    size_t at = sizeof header + sizeof sections;
    struct bytes file = {0};

    for (unsigned i = 1; i < SECTIONS; i++) {
        sections[i] = (Elf64_Shdr){.sh_name = starts[i],
                                   .sh_type = i == SECTIONS - 1 ? SHT_STRTAB : SHT_PROGBITS,
                                   .sh_offset = at,
                                   .sh_size = v[i].length,
                                   .sh_addralign = 1};
        at += v[i].length;
    }
    structure_die_put(&file, &header, sizeof header);
    structure_die_put(&file, sections, sizeof sections);
    for (unsigned i = 1; i < SECTIONS; i++)
        structure_die_put(&file, v[i].v, v[i].length);
    return file;
}

static void
structure_die_check(const struct profile_structure *s, struct profile *p)
{
    if (s->size == 0 || s->size > SIZE_LIMIT || s->member_count > MEMBERS_LIMIT ||
        s->alignment == 0 || (s->alignment & (s->alignment - 1)) != 0)
        abort();
    for (size_t i = 0; i < s->member_count; i++) {
        const struct profile_member *m = &s->members[i], *before = i > 0 ? m - 1 : NULL;

        if (m->size == 0 || m->offset > s->size || m->size > s->size - m->offset ||
            m->alignment == 0 || m->bits > 128)
            abort();
        for (const char *c = profile_string(p, m->name); *c != '\0'; c++)
            if ((unsigned char)*c < 0x20)
                abort();
        if (before == NULL)
            continue;
        if (m->offset < before->offset)
            abort();
        if (s->is_complete && m->offset < before->offset + before->size &&
            (m->bits == 0 || before->bits == 0))
            abort();
    }
}

static void
read_all(struct type_dies *dies, struct profile *p, Dwarf_Die *parent, unsigned depth)
{
    struct profile_structure s;
    struct type_fact fact;
    Dwarf_Die die, member;

    if (depth > 8 || dwarf_child(parent, &die) != 0)
        return;
    do {
        if (type_die_is_aggregate(&die) && structure_read(dies, &die, p, &s))
            structure_die_check(&s, p);
        if (type_die_describe(dies, &die, &fact) && (fact.name == NULL || fact.size == 0))
            abort();
        type_die_member(dies, &die, "x", 1, &member);
        read_all(dies, p, &die, depth + 1);
    } while (type_die_next(&die));
}

static void
structure_die_read_file(struct bytes *file)
{
    struct profile *p = calloc(1, sizeof *p);
    struct arena arena = {0};
    Elf *elf = elf_memory((char *)file->v, file->length);
    Dwarf *dwarf = elf != NULL ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;

    if (p == NULL)
        abort();
    if (dwarf != NULL) {
        struct type_dies dies = {.d = debuginfo_open(dwarf, NULL, &arena), .arena = &arena};

        for (size_t i = 0; i < debuginfo_unit_count(dies.d); i++) {
            Dwarf_Die unit = debuginfo_unit(dies.d, i);

            if (unit.addr != NULL)
                read_all(&dies, p, &unit, 0);
        }
        type_dies_release(&dies);
        debuginfo_close(dies.d);
        dwarf_end(dwarf);
    }
    elf_end(elf);
    arena_release(&arena);
    profile_free(p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, data + size};
    struct made m = {0};
    struct bytes file;

    elf_version(EV_CURRENT);
    make_sections(&m, &in);
    file = structure_die_make_file(&m);
    structure_die_read_file(&file);
    free(file.v);
    free(m.info.v);
    free(m.abbreviations.v);
    return 0;
}
