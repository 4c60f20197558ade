/* elf_names.c: find names in the symbol tables of a file on disk, without debug information.
 *
 * The dynamic linker uses the dynamic symbols. The other table, which stripping removes, also has
 * local and hidden symbols. Each table is read once for all names. */
#include "symbol/elf_names.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

struct open_elf {
    int fd;
    Elf *elf;
};

static void
close_elf(struct open_elf *e)
{
    if (e->elf != NULL)
        elf_end(e->elf);
    if (e->fd >= 0)
        close(e->fd);
}

static bool
elf_names_open_elf(struct open_elf *e, const char *path)
{
    elf_version(EV_CURRENT);
    *e = (struct open_elf){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (e->fd >= 0)
        e->elf = elf_begin(e->fd, ELF_C_READ_MMAP, NULL);
    if (e->elf != NULL && elf_kind(e->elf) == ELF_K_ELF)
        return true;
    close_elf(e);
    return false;
}

static enum elf_name
elf_names_kind_of(const GElf_Sym *symbol, bool dynamic)
{
    unsigned char type = GELF_ST_TYPE(symbol->st_info);

    if (symbol->st_shndx == SHN_UNDEF)
        return dynamic ? ELF_NAME_IMPORTED : ELF_NAME_NONE;
    if (!dynamic)
        return ELF_NAME_HIDDEN;
    return type == STT_FUNC || type == STT_GNU_IFUNC ? ELF_NAME_EXPORTED : ELF_NAME_VARIABLE;
}

/* Return the names of the symbol table with the section header HEADER; each name ends within
 * *RET_BYTES. Return NULL if there are none. */
static const char *
strings_of(Elf *elf, const GElf_Shdr *header, size_t *ret_bytes)
{
    Elf_Data *data = elf_getdata(elf_getscn(elf, header->sh_link), NULL);
    const char *strings = data != NULL ? data->d_buf : NULL;

    *ret_bytes = strings != NULL ? data->d_size : 0;
    while (*ret_bytes > 0 && strings[*ret_bytes - 1] != '\0')
        --*ret_bytes;
    return strings;
}

/* Search the symbols of SECTION for NAMES. Large programs have a hundred thousand symbols, so the
 * work per symbol matters. */
static void
elf_names_look_through(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                       const char *const *names, size_t count, enum elf_name *kinds)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t symbols = header->sh_entsize != 0 ? header->sh_size / header->sh_entsize : 0;
    size_t string_bytes;
    const char *strings = strings_of(elf, header, &string_bytes);
    uint64_t initials[4] = {0};
    GElf_Sym symbol;

    // The first letter excludes most symbols.
    for (size_t k = 0; k < count; k++)
        initials[(unsigned char)names[k][0] / 64] |= UINT64_C(1) << (names[k][0] & 63);
    for (size_t i = 0; data != NULL && i < symbols; i++) {
        const char *name = gelf_getsym(data, (int)i, &symbol) != NULL &&
                                   symbol.st_name < string_bytes
                               ? strings + symbol.st_name
                               : NULL;

        if (name == NULL || !(initials[(unsigned char)*name / 64] >> (*name & 63) & 1))
            continue;
        for (size_t k = 0; k < count; k++) {
            enum elf_name kind = ELF_NAME_NONE;

            if (name[0] == names[k][0] && name[1] == names[k][1] && strcmp(name, names[k]) == 0)
                kind = elf_names_kind_of(&symbol, header->sh_type == SHT_DYNSYM);
            if (kind > kinds[k])
                kinds[k] = kind;
        }
    }
}

bool
elf_names_find(const char *path, const char *const *names, size_t count, enum elf_name *ret_kinds)
{
    Elf_Scn *section = NULL;
    struct open_elf e;
    GElf_Shdr header;

    if (!elf_names_open_elf(&e, path))
        return false;
    for (size_t k = 0; k < count; k++)
        ret_kinds[k] = ELF_NAME_NONE;
    while ((section = elf_nextscn(e.elf, section)) != NULL)
        if (gelf_getshdr(section, &header) != NULL &&
            (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB))
            elf_names_look_through(e.elf, section, &header, names, count, ret_kinds);
    close_elf(&e);
    return true;
}

bool
elf_names_is_library(const char *path)
{
    bool is_library;
    struct open_elf e;
    GElf_Ehdr header;

    if (elf_names_is_program(path) || !elf_names_open_elf(&e, path))
        return false;
    is_library = gelf_getehdr(e.elf, &header) != NULL && header.e_type == ET_DYN &&
                 header.e_machine == EM_X86_64 && header.e_ident[EI_CLASS] == ELFCLASS64;
    close_elf(&e);
    return is_library;
}

bool
elf_names_has_text(const char *path, const char *text)
{
    Elf_Scn *section = NULL;
    bool found = false;
    struct open_elf e;
    GElf_Shdr header;

    if (!elf_names_open_elf(&e, path))
        return false;
    while (!found && (section = elf_nextscn(e.elf, section)) != NULL) {
        Elf_Data *data;

        if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_PROGBITS ||
            (header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) != SHF_ALLOC)
            continue;
        data = elf_rawdata(section, NULL);
        found = data != NULL && data->d_buf != NULL &&
                memmem(data->d_buf, data->d_size, text, strlen(text)) != NULL;
    }
    close_elf(&e);
    return found;
}

bool
elf_names_has_section(const char *path, const char *name)
{
    Elf_Scn *section = NULL;
    size_t strings = 0;
    bool found = false;
    struct open_elf e;
    GElf_Shdr header;

    if (!elf_names_open_elf(&e, path))
        return false;
    if (elf_getshdrstrndx(e.elf, &strings) != 0)
        strings = 0;
    while (!found && (section = elf_nextscn(e.elf, section)) != NULL) {
        const char *called = gelf_getshdr(section, &header) != NULL
                                 ? elf_strptr(e.elf, strings, header.sh_name)
                                 : NULL;

        found = called != NULL && strcmp(called, name) == 0;
    }
    close_elf(&e);
    return found;
}

bool
elf_names_dynamic_linker(const char *path, char *ret, size_t size_bytes)
{
    struct open_elf e;
    bool found = false;
    GElf_Phdr segment;
    size_t count = 0;

    if (!elf_names_open_elf(&e, path))
        return false;
    elf_getphdrnum(e.elf, &count);
    for (size_t i = 0; i < count && !found; i++)
        found = gelf_getphdr(e.elf, (int)i, &segment) != NULL && segment.p_type == PT_INTERP &&
                segment.p_filesz <= size_bytes &&
                pread(e.fd, ret, segment.p_filesz, (off_t)segment.p_offset) ==
                    (ssize_t)segment.p_filesz &&
                memchr(ret, '\0', segment.p_filesz) != NULL;
    close_elf(&e);
    return found;
}

bool
elf_names_is_program(const char *path)
{
    char linker[PATH_MAX];

    return elf_names_dynamic_linker(path, linker, sizeof linker);
}
