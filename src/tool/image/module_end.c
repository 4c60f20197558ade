/* module_end.c: find the end of the variables of a program or library.
 *
 * Variables that start as zeros lie in anonymous memory behind the mapped file. The kernel merges
 * adjacent anonymous mappings, so memory that the program maps later may follow without a gap. If
 * the program's own heap follows a library, it would be taken for the library's variables, and
 * everything that it points to for reachable.
 *
 *     | file | .data | .bss | mapped later |
 *                           ^ from the program headers at the beginning of the file, which are
 *                             mapped and in most dumps; else from the profile, for modules on a
 *                             stack */
#include "image/module_end.h"

#include <elf.h>
#include <string.h>

enum { HEADERS_MAX = 64, PAGE_BYTES = 4096, LOCAL_BYTES_MAX = 1 << 20 };

/* Store the address at which MAPPING's file begins in *RET: its last mapping of file offset 0 at or
 * before MAPPING. Return false if there is none. */
static bool
find_start(const struct memory *m, const struct memory_mapping *mapping, uint64_t *ret)
{
    for (const struct memory_mapping *at = mapping; at >= m->mappings; at--)
        if (at->file_off == 0 && strcmp(at->path, mapping->path) == 0) {
            *ret = at->start;
            return true;
        }
    return false;
}

/* Return true if the bytes at START can be read and are not an ELF file. */
static bool
is_no_object(const struct memory *m, uint64_t start)
{
    char magic[SELFMAG];

    return memory_read(m, start, magic, sizeof magic) == sizeof magic &&
           memcmp(magic, ELFMAG, sizeof magic) != 0;
}

/* Read the program headers of the file at START into RET, which has HEADERS_MAX elements. Return
 * their number; 0 if there are none. */
static size_t
read_headers(const struct memory *m, uint64_t start, Elf64_Phdr *ret)
{
    Elf64_Ehdr file;
    size_t bytes;

    if (m->word_bytes != 8 || m->big_endian ||
        memory_read(m, start, &file, sizeof file) < sizeof file ||
        memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_phentsize != sizeof *ret ||
        file.e_phnum > HEADERS_MAX)
        return 0;
    bytes = file.e_phnum * sizeof *ret;
    return memory_read(m, start + file.e_phoff, ret, bytes) < bytes ? 0 : file.e_phnum;
}

uint64_t
module_local_bytes(const struct memory *m)
{
    Elf64_Phdr segments[HEADERS_MAX];
    uint64_t sum = 0;

    for (size_t i = 0; i < m->mapping_count; i++) {
        size_t count = m->mappings[i].file_off == 0
                           ? read_headers(m, m->mappings[i].start, segments)
                           : 0;

        for (size_t k = 0; k < count; k++)
            // The linker aligns each module's part.
            if (segments[k].p_type == PT_TLS && segments[k].p_memsz < LOCAL_BYTES_MAX &&
                segments[k].p_align <= PAGE_BYTES)
                sum += segments[k].p_memsz + 2 * segments[k].p_align;
    }
    return sum < LOCAL_BYTES_MAX ? sum : LOCAL_BYTES_MAX;
}

/* Return the end of the module by the program headers at START; 0 if there are none. */
static uint64_t
end_by_headers(const struct memory *m, uint64_t start)
{
    Elf64_Phdr segments[HEADERS_MAX];
    uint64_t first = UINT64_MAX, end = 0;
    size_t count = read_headers(m, start, segments);

    for (size_t i = 0; i < count; i++) {
        const Elf64_Phdr *s = &segments[i];

        if (s->p_type != PT_LOAD || s->p_vaddr + s->p_memsz < s->p_vaddr)
            continue;
        first = s->p_vaddr < first ? s->p_vaddr : first;
        end = s->p_vaddr + s->p_memsz > end ? s->p_vaddr + s->p_memsz : end;
    }
    if (end == 0)
        return 0;
    return start + (end - (first & -(uint64_t)PAGE_BYTES));
}

static uint64_t
end_by_profile(const struct examined *e, uint64_t address)
{
    for (size_t i = 1; i < raw_count(&e->raw, DISK_MODULES); i++) {
        const struct disk_module *d = raw_record(&e->raw, DISK_MODULES, i);

        if (d->id == i && d->unloaded == 0 && address - d->start < d->end - d->start &&
            d->start < d->end)
            return d->end;
    }
    return UINT64_MAX;
}

uint64_t
module_end(const struct examined *e, const struct memory_mapping *mapping)
{
    uint64_t start, end = 0;

    if (find_start(&e->memory, mapping, &start)) {
        if (is_no_object(&e->memory, start))
            return mapping->end;
        end = end_by_headers(&e->memory, start);
    }
    if (end <= mapping->start)
        end = end_by_profile(e, mapping->start);
    return end == UINT64_MAX ? end : (end + PAGE_BYTES - 1) & -(uint64_t)PAGE_BYTES;
}
