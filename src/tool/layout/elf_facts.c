/* elf_facts.c: read the headers of ELF files of any word size and byte order.
 *
 * The reader uses only the program headers, the build id and, in a core, the program's entry point
 * and mapped files. A truncated file is read as far as it goes. The file is untrusted: counts are
 * limited, and offsets are only passed to the source, which checks its end. */
#include "layout/elf_facts.h"

#include <elf.h>
#include <string.h>

enum {
    SEGMENTS_MAX = PN_XNUM, // Larger counts have another encoding, which no known file uses.
    NOTES_BYTES_MAX = 1 << 20,
};

/* The offsets of fields, by word size. */
struct fields {
    uint32_t header_bytes, entry, segments_off, segment_bytes, segment_count;
    uint32_t row_bytes, flags, off, address, file_bytes, memory_bytes;
};

static const struct fields fields_32 = {
    sizeof(Elf32_Ehdr),
    offsetof(Elf32_Ehdr, e_entry),
    offsetof(Elf32_Ehdr, e_phoff),
    offsetof(Elf32_Ehdr, e_phentsize),
    offsetof(Elf32_Ehdr, e_phnum),
    sizeof(Elf32_Phdr),
    offsetof(Elf32_Phdr, p_flags),
    offsetof(Elf32_Phdr, p_offset),
    offsetof(Elf32_Phdr, p_vaddr),
    offsetof(Elf32_Phdr, p_filesz),
    offsetof(Elf32_Phdr, p_memsz),
};
static const struct fields fields_64 = {
    sizeof(Elf64_Ehdr),
    offsetof(Elf64_Ehdr, e_entry),
    offsetof(Elf64_Ehdr, e_phoff),
    offsetof(Elf64_Ehdr, e_phentsize),
    offsetof(Elf64_Ehdr, e_phnum),
    sizeof(Elf64_Phdr),
    offsetof(Elf64_Phdr, p_flags),
    offsetof(Elf64_Phdr, p_offset),
    offsetof(Elf64_Phdr, p_vaddr),
    offsetof(Elf64_Phdr, p_filesz),
    offsetof(Elf64_Phdr, p_memsz),
};

static uint32_t
read_32(enum annotation_kind kind, const uint8_t *p)
{
    return (uint32_t)annotation_word(
        annotation_is_big(kind) ? ANNOTATION_32_BIG : ANNOTATION_32_LITTLE, p);
}

static uint32_t
read_16(enum annotation_kind kind, const uint8_t *p)
{
    return annotation_is_big(kind) ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

bool
elf_facts_is_elf(const struct byte_source *source)
{
    uint8_t ident[EI_NIDENT];

    return source->read(source->arg, 0, ident, sizeof ident) == sizeof ident &&
           memcmp(ident, ELFMAG, SELFMAG) == 0;
}

static const struct elf_segment *
elf_facts_next_segment(const struct elf_facts *f, uint32_t type, size_t *cursor)
{
    while (*cursor < f->segment_count)
        if (f->segments[(*cursor)++].type == type)
            return &f->segments[*cursor - 1];
    return NULL;
}

static void
note_auxiliary(struct elf_facts *f, const uint8_t *values, size_t bytes)
{
    size_t word = annotation_word_bytes(f->kind);

    for (size_t at = 0; at + 2 * word <= bytes; at += 2 * word)
        if (annotation_word(f->kind, values + at) == AT_ENTRY)
            f->entry_here = annotation_word(f->kind, values + at + word);
}

/* Read the core's table of mapped files: their number and the page size; start, end and page offset
 * of each; then all paths. */
static void
note_mappings(struct elf_facts *f, const uint8_t *values, size_t bytes, struct arena *arena)
{
    size_t word = annotation_word_bytes(f->kind), row = 3 * word;
    uint64_t count = bytes >= 2 * word ? annotation_word(f->kind, values) : 0, page;
    const uint8_t *rows = values + 2 * word, *path, *end = values + bytes;

    if (count == 0 || count > (bytes - 2 * word) / row || f->mappings != NULL)
        return;
    page = annotation_word(f->kind, values + word);
    path = rows + count * row;
    f->mappings = arena_array(arena, count, sizeof *f->mappings);
    for (size_t i = 0; i < count; i++, rows += row) {
        const uint8_t *behind = memchr(path, '\0', (size_t)(end - path));

        if (behind == NULL)
            return;
        f->mappings[f->mapping_count++] = (struct elf_mapping){
            .start = annotation_word(f->kind, rows),
            .end = annotation_word(f->kind, rows + word),
            .off = annotation_word(f->kind, rows + 2 * word) * page,
            .path = arena_strdup(arena, (const char *)path),
        };
        path = behind + 1;
    }
}

/* Read the notes in BYTES. */
static void
elf_facts_read_notes(struct elf_facts *f, const uint8_t *notes, size_t bytes, struct arena *arena)
{
    size_t at = 0;

    while (bytes - at >= 12) {
        uint64_t name = round_up(read_32(f->kind, notes + at), 4);
        uint64_t value = read_32(f->kind, notes + at + 4), end;
        uint32_t type = read_32(f->kind, notes + at + 8);
        bool is_gnu, is_core;

        at += 12;
        end = name + round_up(value, 4);
        if (name + value > bytes - at)
            return;
        is_gnu = name == 4 && memcmp(notes + at, "GNU", 4) == 0;
        is_core = name == 8 && memcmp(notes + at, "CORE", 5) == 0;
        if (is_gnu && type == NT_GNU_BUILD_ID && value > 0 && value <= sizeof f->build_id) {
            memcpy(f->build_id, notes + at + name, value);
            f->build_id_bytes = (uint32_t)value;
        }
        if (is_core && type == NT_AUXV)
            note_auxiliary(f, notes + at + name, value);
        if (is_core && type == NT_FILE)
            note_mappings(f, notes + at + name, value, arena);
        at += end < bytes - at ? end : bytes - at;
    }
}

static void
read_segment(const struct fields *at, const uint8_t *row, struct elf_facts *f)
{
    f->segments[f->segment_count++] = (struct elf_segment){
        .type = read_32(f->kind, row),
        .flags = read_32(f->kind, row + at->flags),
        .address = annotation_word(f->kind, row + at->address),
        .off = annotation_word(f->kind, row + at->off),
        .file_bytes = annotation_word(f->kind, row + at->file_bytes),
        .memory_bytes = annotation_word(f->kind, row + at->memory_bytes),
    };
}

static void
read_all_notes(const struct byte_source *source, struct elf_facts *f, struct arena *arena)
{
    const struct elf_segment *s;
    size_t cursor = 0;

    while ((s = elf_facts_next_segment(f, PT_NOTE, &cursor)) != NULL) {
        size_t bytes = s->file_bytes < NOTES_BYTES_MAX ? s->file_bytes : NOTES_BYTES_MAX;
        struct arena scratch = {0};
        uint8_t *notes = arena_alloc(&scratch, bytes);

        elf_facts_read_notes(f, notes, source->read(source->arg, s->off, notes, bytes), arena);
        arena_release(&scratch);
    }
}

int
elf_facts_read(const struct byte_source *source, const char *name, struct arena *arena,
               struct elf_facts *ret, struct err *err)
{
    uint8_t header[sizeof(Elf64_Ehdr)] = {0}, row[sizeof(Elf64_Phdr)];
    size_t got = source->read(source->arg, 0, header, sizeof header), count, row_bytes;
    struct elf_facts f = {0};
    const struct fields *at;
    uint64_t first;

    if (got < EI_NIDENT || memcmp(header, ELFMAG, SELFMAG) != 0)
        return err_set(err, HEAPTAP_BAD_INPUT, "%s is no ELF file", name);
    at = header[EI_CLASS] == ELFCLASS64 ? &fields_64 : &fields_32;
    f.kind = (enum annotation_kind)((header[EI_CLASS] == ELFCLASS64) +
                                    2 * (header[EI_DATA] == ELFDATA2MSB));
    row_bytes = read_16(f.kind, header + at->segment_bytes);
    if (got < at->header_bytes || row_bytes < at->row_bytes)
        return err_set(err, HEAPTAP_BAD_INPUT, "%s: its ELF header is damaged", name);
    f.type = read_16(f.kind, header + offsetof(Elf32_Ehdr, e_type));
    f.machine = read_16(f.kind, header + offsetof(Elf32_Ehdr, e_machine));
    f.entry = annotation_word(f.kind, header + at->entry);
    first = annotation_word(f.kind, header + at->segments_off);
    count = read_16(f.kind, header + at->segment_count);
    f.segments = arena_array(arena, count, sizeof *f.segments);
    for (size_t i = 0; i < count && i < SEGMENTS_MAX; i++) {
        if (source->read(source->arg, first + i * row_bytes, row, at->row_bytes) != at->row_bytes)
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "%s is cut off: it ends within its table of segments", name);
        read_segment(at, row, &f);
    }
    read_all_notes(source, &f, arena);
    *ret = f;
    return 0;
}

bool
elf_facts_first_address(const struct elf_facts *facts, uint64_t *ret)
{
    const struct elf_segment *s;
    size_t cursor = 0;

    if ((s = elf_facts_next_segment(facts, PT_LOAD, &cursor)) == NULL)
        return false;
    *ret = s->address - s->off;
    return true;
}

const char *
elf_facts_machine(uint32_t machine, struct arena *arena)
{
    static const struct {
        uint32_t number;
        const char *name;
    } known[] = {
        {EM_386, "i386"},     {EM_X86_64, "x86-64"}, {EM_ARM, "ARM"},     {EM_AARCH64, "AArch64"},
        {EM_PPC, "PowerPC"},  {EM_PPC64, "PowerPC"}, {EM_MIPS, "MIPS"},   {EM_S390, "S/390"},
        {EM_RISCV, "RISC-V"}, {EM_SPARC, "SPARC"},   {EM_68K, "68000"},   {EM_SH, "SuperH"},
    };

    for (size_t i = 0; i < countof(known); i++)
        if (known[i].number == machine)
            return known[i].name;
    return arena_printf(arena, "machine %u", machine);
}
