/* variable.c: find the variable at an address.
 *
 * Functions get names from debug information (dwfl.c). A pointer into a program's data only needs a
 * name such as "cache + 16", which the symbol tables provide: the full one, unless stripped, and
 * the dynamic one. The smallest symbol that covers the address is used, because members of a
 * structure may have symbols as well. As for functions, a file with a different build id is not
 * used. */
#include "symbol/elf_names.h"

#include <gelf.h>

#include "symbol/dwfl.h"

struct found {
    const char *name;
    uint64_t off, size_bytes;
};

/* Return the address of the file's first byte, in the file's addresses. */
static uint64_t
first_address(Elf *elf)
{
    uint64_t first = UINT64_MAX;
    size_t count;

    if (elf_getphdrnum(elf, &count) != 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr h;

        if (gelf_getphdr(elf, (int)i, &h) != NULL && h.p_type == PT_LOAD &&
            h.p_vaddr - h.p_offset < first)
            first = h.p_vaddr - h.p_offset;
    }
    return first == UINT64_MAX ? 0 : first;
}

static void
variable_look_through(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, uint64_t address,
                      struct found *best)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = header->sh_entsize != 0 ? header->sh_size / header->sh_entsize : 0;

    for (size_t i = 0; data != NULL && i < count; i++) {
        GElf_Sym s;
        const char *name;

        if (gelf_getsym(data, (int)i, &s) == NULL || s.st_shndx == SHN_UNDEF ||
            GELF_ST_TYPE(s.st_info) != STT_OBJECT || address - s.st_value >= s.st_size)
            continue;
        name = elf_strptr(elf, header->sh_link, s.st_name);
        if (name != NULL && *name != '\0' && (best->name == NULL || s.st_size < best->size_bytes))
            *best = (struct found){name, address - s.st_value, s.st_size};
    }
}

const char *
variable_name(const struct profile *p, const struct profile_module *m, uint64_t off,
              struct arena *arena, uint64_t *ret_off)
{
    static const struct symbol_options defaults;
    struct symbol_paths paths = object_paths(p, &defaults);
    struct object_failure ignored;
    struct object *o = m->path[0] == '/' ? object_open(m, &paths, &ignored) : NULL;
    Elf *elf = o != NULL ? object_elf(o) : NULL;
    struct found best = {0};
    Elf_Scn *section = NULL;
    const char *name = NULL;

    while (elf != NULL && (section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;

        if (gelf_getshdr(section, &header) != NULL &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            variable_look_through(elf, section, &header, off + first_address(elf), &best);
    }
    if (best.name != NULL) {
        name = arena_strdup(arena, best.name);
        *ret_off = best.off;
    }
    object_close(o);
    return name;
}
