/* elf_core.c: read a core dump.
 *
 * A core dump is an ELF file. It has a PT_LOAD for each range of addresses, with the bytes that the
 * kernel's filter selects, and a PT_NOTE with the state of the process:
 *
 *     NT_PRSTATUS  registers of each thread; the thread that died comes first
 *     NT_FPREGSET, NT_X86_XSTATE, NT_ARM_VFP, NT_PRXFPREG
 *                  vector registers of the preceding thread, repeated in up to two notes
 *     NT_PRPSINFO  process id and command line
 *     NT_SIGINFO   the signal and the address that it is about
 *     NT_FILE      the mapped files and their addresses
 *     NT_AUXV      the auxiliary vector on the first stack
 *
 * The ELF header has word size and byte order, so dumps of other machines can be read. A table has
 * the positions of the registers; for a machine that is not in the table, only memory is read.
 *
 * Every offset is untrusted. Bytes outside of the file are left out and counted, because a dump
 * that was cut short by a limit or a full disk looks the same. */
#include "image/elf_core.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/format.h"
#include "image/saved_registers.h"
#include "util/shell_word.h"

enum {
    REGIONS_MAX = 1 << 20,
    MAPPINGS_MAX = 1 << 20,
    THREADS_MAX = 1 << 20,
    NOTES_MAX = 16, // Maximum number of note segments; a dump has one.
    NOTE_HEAD_BYTES = 12,
};

/* Layout of NT_PRSTATUS: offsets in bytes, and indices of registers, which are words. */
static const struct layout {
    uint32_t machine, word_bytes;
    uint32_t tid_off, registers_off, registers;
    uint32_t pc, sp;
    int pointer; // -1 = not among the registers.
} layouts[] = {
    {EM_X86_64, 8, 32, 112, 27, 16, 19, 21},
    {EM_AARCH64, 8, 32, 112, 34, 32, 31, -1},
    {EM_386, 4, 24, 72, 17, 12, 15, -1},
    {EM_ARM, 4, 24, 72, 18, 15, 13, -1},
};

struct reader {
    struct memory *m;
    uint64_t readable_bytes; // Bytes of the file in all regions so far.
    size_t region_capacity, mapping_capacity, thread_capacity;
};

/* Return the integer of SIZE_BYTES at OFF of the file; 0 outside of the file. */
static uint64_t
elf_core_number(const struct memory *m, uint64_t off, uint32_t size_bytes)
{
    if (off > m->size_bytes || size_bytes > m->size_bytes - off)
        return 0;
    return memory_number(m, m->bytes + off, size_bytes);
}

/* Return the word at OFF of the file, of the machine's size. */
static uint64_t
word(const struct memory *m, uint64_t off)
{
    return elf_core_number(m, off, m->word_bytes);
}

/* Return a copy of the string at OFF; "" if it does not end before END. */
static const char *
elf_core_text(struct memory *m, uint64_t off, uint64_t end)
{
    size_t length;

    if (end > m->size_bytes)
        end = m->size_bytes;
    if (off >= end)
        return "";
    length = strnlen((const char *)m->bytes + off, (size_t)(end - off));
    if (length == end - off)
        return "";
    return arena_strndup(&m->arena, (const char *)m->bytes + off, length);
}

static const struct layout *
layout_of(const struct memory *m)
{
    for (size_t i = 0; i < countof(layouts); i++)
        if (layouts[i].machine == m->machine && layouts[i].word_bytes == m->word_bytes)
            return &layouts[i];
    return NULL;
}

static void
read_thread(struct reader *r, uint64_t off, uint64_t size_bytes)
{
    struct memory *m = r->m;
    const struct layout *l = layout_of(m);
    struct memory_thread *t;

    if (m->thread_count >= THREADS_MAX)
        return;
    arena_grow(&m->arena, &m->threads, &r->thread_capacity, m->thread_count, sizeof *m->threads);
    t = &m->threads[m->thread_count];
    *t = (struct memory_thread){0};
    if (l == NULL || size_bytes < l->registers_off + l->registers * m->word_bytes)
        return;
    t->tid = (uint32_t)elf_core_number(m, off + l->tid_off, 4);
    t->register_count = l->registers;
    for (uint32_t i = 0; i < l->registers; i++)
        t->registers[i] = word(m, off + l->registers_off + i * m->word_bytes);
    t->pc = t->registers[l->pc];
    t->sp = t->registers[l->sp];
    t->pointer = l->pointer >= 0 ? t->registers[l->pointer] : 0;
    if (m->thread_count++ == 0 && m->signal.number == 0)
        m->signal.number = (uint32_t)elf_core_number(m, off + 12, 2);
}

/* Read the thread pointer of the latest thread from a separate note. */
static void
read_thread_pointer(struct memory *m, uint64_t off, uint64_t size_bytes)
{
    if (m->thread_count > 0 && size_bytes >= m->word_bytes)
        m->threads[m->thread_count - 1].pointer = word(m, off);
}

/* Read vector registers of the latest thread from a separate note. The longest of several notes has
 * all registers. */
static void
elf_core_read_vectors(struct memory *m, uint32_t type, uint64_t off, uint64_t size_bytes)
{
    struct memory_thread *t = m->thread_count > 0 ? &m->threads[m->thread_count - 1] : NULL;

    if (t == NULL || size_bytes <= t->vector_bytes ||
        !saved_registers_are_vectors(m, type, size_bytes))
        return;
    t->vectors = m->bytes + off;
    t->vector_bytes = (uint32_t)size_bytes;
}

static void
read_process(struct memory *m, uint64_t off, uint64_t size_bytes)
{
    uint64_t pid_off = m->word_bytes == 8 ? 24 : 12, name_off = m->word_bytes == 8 ? 40 : 28;
    uint64_t arguments_off = name_off + 16;
    size_t length;

    if (size_bytes < arguments_off)
        return;
    m->pid = (uint32_t)elf_core_number(m, off + pid_off, 4);
    m->program = elf_core_text(m, off + arguments_off, off + size_bytes);
    // The kernel appends a blank to each argument.
    for (length = strlen(m->program); length > 0 && m->program[length - 1] == ' ';)
        length--;
    m->program = arena_strndup(&m->arena, m->program, length);
    if (*m->program == '\0')
        m->program = elf_core_text(m, off + name_off, off + arguments_off);
}

/* Return true if si_addr of this signal is an address. The kernel must have sent it for a fault. */
static bool
has_address(uint32_t number, int32_t code)
{
    enum { BUS = 7, FAULT = 11, ILLEGAL = 4, FLOAT = 8, TRAP = 5 };

    return code > 0 && code < 0x80 &&
           (number == BUS || number == FAULT || number == ILLEGAL || number == FLOAT ||
            number == TRAP);
}

static void
read_signal(struct memory *m, uint64_t off, uint64_t size_bytes)
{
    uint64_t address_off = m->word_bytes == 8 ? 16 : 12;

    if (size_bytes < address_off + m->word_bytes)
        return;
    m->signal.number = (uint32_t)elf_core_number(m, off, 4);
    m->signal.code = (int32_t)elf_core_number(m, off + 8, 4);
    m->signal.has_address = has_address(m->signal.number, m->signal.code);
    m->signal.address = m->signal.has_address ? word(m, off + address_off) : 0;
}

/* Read the mapped files. The note has a count and the page size, then start, end and offset (in
 * pages) of each file, then the names. */
static void
read_files(struct reader *r, uint64_t off, uint64_t size_bytes)
{
    struct memory *m = r->m;
    uint64_t w = m->word_bytes, end = off + size_bytes;
    uint64_t count, page, names;
    const unsigned char *last;

    if (size_bytes < 2 * w)
        return;
    count = word(m, off);
    page = word(m, off + w);
    if (count > MAPPINGS_MAX || count > (size_bytes - 2 * w) / (3 * w))
        return;
    names = off + 2 * w + count * 3 * w;
    // Ignore an unterminated last name, so that it is not searched again for each file.
    last = memrchr(m->bytes + names, '\0', end - names);
    end = last != NULL ? (uint64_t)(last - m->bytes) + 1 : names;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = off + 2 * w + i * 3 * w;
        const char *path = elf_core_text(m, names, end);

        arena_grow(&m->arena, &m->mappings, &r->mapping_capacity, m->mapping_count,
                   sizeof *m->mappings);
        m->mappings[m->mapping_count++] =
            (struct memory_mapping){word(m, at), word(m, at + w), word(m, at + 2 * w) * page, path};
        names += strlen(path) + 1;
    }
}

/* Read the auxiliary vector: pairs of words, a type and its value. */
static void
read_auxiliary(struct memory *m, uint64_t off, uint64_t size_bytes)
{
    for (uint64_t at = 0; size_bytes - at >= 2 * m->word_bytes; at += 2 * m->word_bytes) {
        uint64_t type = word(m, off + at);

        // AT_RANDOM points to random bytes above the first frame of the stack.
        if (type == AT_RANDOM)
            m->first_stack = word(m, off + at + m->word_bytes);
        if (type == AT_NULL)
            return;
    }
}

static void
read_note(struct reader *r, uint32_t type, uint64_t off, uint64_t size_bytes)
{
    switch (type) {
    case NT_PRSTATUS:
        read_thread(r, off, size_bytes);
        break;
    case NT_PRPSINFO:
        read_process(r->m, off, size_bytes);
        break;
    case NT_SIGINFO:
        read_signal(r->m, off, size_bytes);
        break;
    case NT_FILE:
        read_files(r, off, size_bytes);
        break;
    case NT_AUXV:
        read_auxiliary(r->m, off, size_bytes);
        break;
    case NT_ARM_TLS:
        read_thread_pointer(r->m, off, size_bytes);
        break;
    case NT_FPREGSET:
    case NT_X86_XSTATE:
    case NT_ARM_VFP:
    case NT_PRXFPREG:
        elf_core_read_vectors(r->m, type, off, size_bytes);
        break;
    default:
        break;
    }
}

static void
elf_core_read_notes(struct reader *r, uint64_t off, uint64_t size_bytes)
{
    const struct memory *m = r->m;
    uint64_t end;

    if (off > m->size_bytes)
        return;
    end = size_bytes < m->size_bytes - off ? off + size_bytes : m->size_bytes;
    while (end - off >= NOTE_HEAD_BYTES) {
        uint64_t name_bytes = elf_core_number(m, off, 4), bytes = elf_core_number(m, off + 4, 4);
        uint32_t type = (uint32_t)elf_core_number(m, off + 8, 4);
        uint64_t data = off + NOTE_HEAD_BYTES + ((name_bytes + 3) & ~UINT64_C(3));

        if (data > end || bytes > end - data)
            return;
        read_note(r, type, data, bytes);
        off = data + ((bytes + 3) & ~UINT64_C(3));
        if (off > end)
            return;
    }
}

static void
read_region(struct reader *r, uint64_t at)
{
    struct memory *m = r->m;
    bool wide = m->word_bytes == 8;
    uint64_t off = word(m, at + (wide ? 8 : 4));
    uint64_t start = word(m, at + (wide ? 16 : 8));
    uint64_t stored = word(m, at + (wide ? 32 : 16)), bytes = word(m, at + (wide ? 40 : 20));
    uint64_t available = off < m->size_bytes ? m->size_bytes - off : 0;

    if (m->region_count >= REGIONS_MAX || start + bytes < start)
        return;
    if (stored > bytes)
        stored = bytes;
    if (available > stored)
        available = stored;
    // A dump has no byte twice. Reading the same bytes a million times would take too long.
    if (available > m->size_bytes - r->readable_bytes)
        available = 0;
    r->readable_bytes += available;
    m->missing_bytes += stored - available;
    arena_grow(&m->arena, &m->regions, &r->region_capacity, m->region_count, sizeof *m->regions);
    m->regions[m->region_count++] =
        (struct memory_region){.start = start,
                               .end = start + bytes,
                               .readable_bytes = available,
                               .file_off = off,
                               .access = (uint32_t)elf_core_number(m, at + (wide ? 4 : 24), 4)};
}

/* Read the program headers. */
static void
elf_core_read_headers(struct reader *r)
{
    struct memory *m = r->m;
    bool wide = m->word_bytes == 8;
    uint64_t table = word(m, wide ? 32 : 28), sections = word(m, wide ? 40 : 32);
    uint64_t each = elf_core_number(m, wide ? 54 : 42, 2),
             count = elf_core_number(m, wide ? 56 : 44, 2);

    // A count that needs more than 16 bits is in the first section header.
    if (count == PN_XNUM && sections != 0)
        count = elf_core_number(m, sections + (wide ? 44 : 28), 4);
    if (each < (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
        return;
    for (uint64_t i = 0, notes = 0; i < count && table + i * each < m->size_bytes; i++) {
        uint64_t at = table + i * each;
        uint64_t type = elf_core_number(m, at, 4);

        if (type == PT_LOAD)
            read_region(r, at);
        else if (type == PT_NOTE && notes++ < NOTES_MAX)
            elf_core_read_notes(r, word(m, at + (wide ? 8 : 4)), word(m, at + (wide ? 32 : 16)));
    }
}

/* Return the error for the file NAME with the SIZE_BYTES at BYTES, which has no ELF header. */
static int
refuse_other_file(const unsigned char *bytes, size_t size_bytes, const char *name,
                  struct arena *arena, struct err *err)
{
    uint64_t magic = 0;

    memcpy(&magic, bytes, size_bytes < sizeof magic ? size_bytes : sizeof magic);
    if (magic == DISK_MAGIC)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s is no core dump, but a profile; heaptap report %s shows it", name,
                       shell_word(arena, name));
    if (size_bytes >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s is truncated within its first header; a limit (ulimit -c) or a full "
                       "disk may have stopped the dump", name);
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "%s is no core dump: it does not begin like an ELF file; make a dump with "
                   "gcore, or by a crash after ulimit -c unlimited", name);
}

int
elf_core_parse(const unsigned char *bytes, size_t size_bytes, const char *name, struct memory *ret,
               struct err *err)
{
    struct reader r = {.m = ret};
    uint64_t type;

    *ret = (struct memory){.bytes = bytes, .size_bytes = size_bytes, .program = ""};
    ret->name = arena_strdup(&ret->arena, name);
    if (size_bytes < sizeof(Elf32_Ehdr) || memcmp(bytes, ELFMAG, SELFMAG) != 0) {
        refuse_other_file(bytes, size_bytes, name, &ret->arena, err);
        goto failed;
    }
    ret->word_bytes = bytes[EI_CLASS] == ELFCLASS64 ? 8 : 4;
    ret->big_endian = bytes[EI_DATA] == ELFDATA2MSB;
    type = elf_core_number(ret, 16, 2);
    ret->machine = (uint32_t)elf_core_number(ret, 18, 2);
    if (type != ET_CORE) {
        err_set(err, HEAPTAP_BAD_INPUT, "%s is no core dump, but %s", name,
                type == ET_EXEC || type == ET_DYN
                    ? "a program or library; give a dump of it"
                    : "another kind of ELF file; make a dump with gcore, or by a crash after "
                      "ulimit -c unlimited");
        goto failed;
    }
    elf_core_read_headers(&r);
    memory_sort(ret);
    if (ret->region_count == 0) {
        err_set(err, HEAPTAP_BAD_INPUT, "%s: the dump is truncated before any memory; a limit "
                                        "(ulimit -c) or a full disk may have stopped it", name);
        goto failed;
    }
    return 0;
failed:
    ret->bytes = NULL;
    memory_close(ret);
    return HEAPTAP_BAD_INPUT;
}

int
elf_core_open(const char *path, struct memory *ret, struct err *err)
{
    const unsigned char *bytes;
    size_t size_bytes;
    int r = core_file_map(path, &bytes, &size_bytes, err);

    if (r != 0)
        return r;
    r = elf_core_parse(bytes, size_bytes, path, ret, err);
    if (r != 0)
        munmap((void *)(uintptr_t)bytes, size_bytes);
    return r;
}

bool
elf_core_is(const char *path)
{
    unsigned char b[18] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, b, sizeof b) : -1;

    if (fd >= 0)
        close(fd);
    if (n < (ssize_t)sizeof b)
        return false;
    if (memcmp(b, ELFMAG, SELFMAG) == 0)
        return b[b[EI_DATA] == ELFDATA2MSB ? 17 : 16] == ET_CORE;
    return (b[0] == 0x28 && b[1] == 0xb5) || (b[0] == 0x1f && b[1] == 0x8b);
}
