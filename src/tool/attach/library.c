/* library.c: load the recorder's library for another process.
 *
 * The library needs few names: libc's environment, the start of the stack, and the search for the
 * object at an address. The caller chooses the offset of its thread-local memory. All other
 * relocations are relative. Weak names, which serve exceptions, are bound if the process
 * has them. */
#include "attach/library.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

#define LIBRARY_BYTES_MAX ((uint64_t)64 << 20)

static const Elf64_Ehdr *
header_of(const struct library *l)
{
    return (const Elf64_Ehdr *)(const void *)l->bytes;
}

static const Elf64_Phdr *
segments_of(const struct library *l)
{
    return (const Elf64_Phdr *)(const void *)(l->bytes + header_of(l)->e_phoff);
}

/* Copy the segments of FILE, which has FILE_BYTES, to where they will lie. Return false if FILE is
 * not a library for this processor. */
static bool
take_segments(const unsigned char *file, uint64_t file_bytes, struct target *t,
              struct library *ret)
{
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)(const void *)file;
    const Elf64_Phdr *p = (const Elf64_Phdr *)(const void *)(file + sizeof *h);

    // The linker puts the segments' headers directly behind the file's.
    if (file_bytes < PAGE_BYTES || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
        h->e_type != ET_DYN || h->e_machine != EM_X86_64 || h->e_phoff != sizeof *h ||
        h->e_phnum > (PAGE_BYTES - sizeof *h) / sizeof *p)
        return false;
    for (uint32_t i = 0; i < h->e_phnum; i++) {
        if (p[i].p_type != PT_LOAD)
            continue;
        if (p[i].p_vaddr + p[i].p_memsz > LIBRARY_BYTES_MAX || p[i].p_filesz > p[i].p_memsz ||
            p[i].p_offset > file_bytes || p[i].p_filesz > file_bytes - p[i].p_offset)
            return false;
        if (p[i].p_vaddr + p[i].p_memsz > ret->size_bytes)
            ret->size_bytes = round_up(p[i].p_vaddr + p[i].p_memsz, PAGE_BYTES);
    }
    ret->bytes = arena_alloc(&t->arena, ret->size_bytes);
    for (uint32_t i = 0; i < h->e_phnum; i++)
        if (p[i].p_type == PT_LOAD)
            memcpy(ret->bytes + p[i].p_vaddr, file + p[i].p_offset, p[i].p_filesz);
    return ret->size_bytes != 0;
}

int
library_read(const char *path, struct target *t, struct library *ret, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *file;
    bool ok;

    *ret = (struct library){.path = path};
    if (fd < 0 || fstat(fd, &st) != 0) {
        if (fd >= 0)
            close(fd);
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot read the recorder, %s", path);
    }
    file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot read the recorder, %s", path);
    ok = take_segments(file, (uint64_t)st.st_size, t, ret);
    munmap(file, (size_t)st.st_size);
    return ok ? 0 : err_set(err, HEAPTAP_BAD_INPUT, "%s is not heaptap's recorder", path);
}

/* Return the value of TAG in the dynamic section; 0 if there is none. */
static uint64_t
dynamic_value(const struct library *l, int64_t tag)
{
    const Elf64_Phdr *p = segments_of(l);

    for (uint32_t i = 0; i < header_of(l)->e_phnum; i++) {
        if (p[i].p_type != PT_DYNAMIC)
            continue;
        for (const Elf64_Dyn *d = (const Elf64_Dyn *)(const void *)(l->bytes + p[i].p_vaddr);
             d->d_tag != DT_NULL; d++)
            if (d->d_tag == tag)
                return d->d_un.d_val;
    }
    return 0;
}

static const Elf64_Sym *
symbol_of(const struct library *l, uint64_t index)
{
    return (const Elf64_Sym *)(const void *)(l->bytes + dynamic_value(l, DT_SYMTAB)) + index;
}

static const char *
name_of(const struct library *l, const Elf64_Sym *s)
{
    return (const char *)l->bytes + dynamic_value(l, DT_STRTAB) + s->st_name;
}

/* Store the address of symbol INDEX in *RET; 0 for a weak one that the process lacks. */
static int
bind(const struct library *l, const struct target *t, uint64_t index, uint64_t *ret,
     struct err *err)
{
    const Elf64_Sym *s = symbol_of(l, index);
    struct target_symbol found;

    *ret = 0;
    if (index == 0)
        return 0;
    if (s->st_shndx != SHN_UNDEF) {
        *ret = l->base + s->st_value;
        return 0;
    }
    if (target_find(t, name_of(l, s), &found) && found.type != STT_GNU_IFUNC)
        *ret = found.address;
    else if (ELF64_ST_BIND(s->st_info) != STB_WEAK)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u lacks %s: its C library is not glibc, or is older than 2.35",
                       t->pid, name_of(l, s));
    return 0;
}

int
library_relocate(struct library *l, const struct target *t, uint64_t tls_off, struct err *err)
{
    const Elf64_Rela *r =
        (const Elf64_Rela *)(const void *)(l->bytes + dynamic_value(l, DT_RELA));
    uint64_t count = dynamic_value(l, DT_RELASZ) / sizeof *r;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t value, addend = (uint64_t)r[i].r_addend;
        int error = bind(l, t, ELF64_R_SYM(r[i].r_info), &value, err);

        if (error != 0)
            return error;
        switch (ELF64_R_TYPE(r[i].r_info)) {
        case R_X86_64_RELATIVE:
            value = l->base + addend;
            break;
        case R_X86_64_GLOB_DAT:
        case R_X86_64_JUMP_SLOT:
            break;
        case R_X86_64_64:
            value = value != 0 ? value + addend : 0;
            break;
        case R_X86_64_TPOFF64:
            value = tls_off + addend + (value != 0 ? value - l->base : 0);
            break;
        default:
            return err_set(err, HEAPTAP_BUG, "%s has a relocation of type %u", l->path,
                           (unsigned)ELF64_R_TYPE(r[i].r_info));
        }
        memcpy(l->bytes + r[i].r_offset, &value, sizeof value);
    }
    return 0;
}

uint64_t
library_offset(const struct library *l, const char *name)
{
    uint64_t names = dynamic_value(l, DT_STRTAB), symbols = dynamic_value(l, DT_SYMTAB);
    // The linker puts the names directly behind the symbols.
    uint64_t count = (names - symbols) / sizeof(Elf64_Sym);

    for (uint64_t i = 1; i < count; i++)
        if (symbol_of(l, i)->st_shndx != SHN_UNDEF &&
            strcmp(name_of(l, symbol_of(l, i)), name) == 0)
            return symbol_of(l, i)->st_value;
    return 0;
}

uint64_t
library_tls_bytes(const struct library *l)
{
    for (uint32_t i = 0; i < header_of(l)->e_phnum; i++)
        if (segments_of(l)[i].p_type == PT_TLS)
            return segments_of(l)[i].p_memsz;
    return 0;
}

bool
library_part(const struct library *l, size_t index, struct library_part *ret)
{
    const Elf64_Phdr *p = segments_of(l);

    for (uint32_t i = 0; i < header_of(l)->e_phnum; i++) {
        if (p[i].p_type != PT_LOAD || index-- > 0)
            continue;
        ret->off = round_down(p[i].p_vaddr, PAGE_BYTES);
        ret->size_bytes = round_up(p[i].p_vaddr + p[i].p_memsz, PAGE_BYTES) - ret->off;
        ret->protection = (p[i].p_flags & PF_R ? PROT_READ : 0) |
                          (p[i].p_flags & PF_W ? PROT_WRITE : 0) |
                          (p[i].p_flags & PF_X ? PROT_EXEC : 0);
        return true;
    }
    return false;
}
