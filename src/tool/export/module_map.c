/* module_map.c: derive executable mappings from a module's program headers.
 *
 * A profile stores a module's range and bias. Consumers of pprof files need the line of
 * /proc/self/maps for the code: its start and its file offset. Assuming file offset 0 at the
 * module's start is right only while file offsets and addresses differ by one constant, which lld
 * and old gold do not ensure. So the program headers of the file are read, if it still exists and
 * fits into the module's range. Otherwise one segment from file offset 0 represents the whole
 * module, which is mostly right.
 *
 * The bytes of the file are untrusted: sizes are bounded, and a segment outside the module is
 * ignored. */
#include "export/module_map.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "util/path.h"

enum { PAGE_BYTES = 4096, HEADERS_MAX = 64 };

static size_t
module_map_read_headers(const char *root, const char *path, Elf64_Phdr *ret)
{
    Elf64_Ehdr e;
    struct stat st;
    int fd = *path == '/' ? regular_open(root, path, &st) : -1;
    size_t count = 0;

    if (fd < 0)
        return 0;
    if (pread(fd, &e, sizeof e, 0) == (ssize_t)sizeof e &&
        memcmp(e.e_ident, ELFMAG, SELFMAG) == 0 && e.e_ident[EI_CLASS] == ELFCLASS64 &&
        e.e_phentsize == sizeof *ret && e.e_phnum <= HEADERS_MAX && e.e_phoff < INT64_MAX) {
        ssize_t bytes = (ssize_t)(e.e_phnum * sizeof *ret);

        if (pread(fd, ret, (size_t)bytes, (off_t)e.e_phoff) == bytes)
            count = e.e_phnum;
    }
    close(fd);
    return count;
}

static bool
code_segment(const struct profile_module *m, const Elf64_Phdr *h, struct module_segment *ret)
{
    uint64_t start, end;

    if (h->p_type != PT_LOAD || !(h->p_flags & PF_X) ||
        h->p_offset % PAGE_BYTES != h->p_vaddr % PAGE_BYTES)
        return false;
    start = m->bias + round_down(h->p_vaddr, PAGE_BYTES);
    end = m->bias + round_up(h->p_vaddr + h->p_memsz, PAGE_BYTES);
    if (start < round_down(m->start, PAGE_BYTES) || end > round_up(m->end, PAGE_BYTES) ||
        start >= end)
        return false;
    *ret = (struct module_segment){start, end, round_down(h->p_offset, PAGE_BYTES)};
    return true;
}

size_t
module_code(const struct profile *p, const struct profile_module *m, struct module_segment *ret)
{
    Elf64_Phdr headers[HEADERS_MAX];
    size_t header_count = module_map_read_headers(p->sysroot, m->path, headers), count = 0;

    for (size_t i = 0; i < header_count && count < MODULE_SEGMENTS_MAX; i++)
        if (code_segment(m, &headers[i], &ret[count]))
            count++;
    if (count == 0)
        ret[count++] = (struct module_segment){m->start, m->end, 0};
    return count;
}

size_t
module_order(const struct profile *p, uint32_t *ret)
{
    size_t count = 0;
    uint32_t program = 0;

    for (uint32_t i = 1; i < p->module_count && program == 0; i++)
        if (profile_is_program(p, i))
            program = i;
    if (program != 0)
        ret[count++] = program;
    for (uint32_t i = 1; i < p->module_count; i++)
        if (i != program)
            ret[count++] = i;
    return count;
}
