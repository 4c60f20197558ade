/* definitions.c: find the addresses of names in all symbol tables of a module.
 *
 * The dynamic linker finds exported names only. Names that are local to a file or hidden are in the
 * table that stripping removes, or in a separate debug file. The rules of dwfl.c decide which file
 * belongs to the module. A file without a build id may have been replaced since the process
 * started, so each definition comes with the first bytes of its code, for the caller to compare. */
#include "symbol/definitions.h"

#include <elfutils/libdwfl.h>
#include <string.h>

#include "symbol/demangle.h"
#include "symbol/dwfl.h"

struct definition_search {
    const char *const *names;
    size_t count;
    struct arena *arena;
    struct definition *found;
    size_t found_count, capacity;
};

/* Copy the bytes at ADDRESS of ELF's file to D. */
static void
read_code(Elf *elf, uint64_t address, struct definition *d)
{
    size_t count = 0;
    GElf_Phdr segment;

    if (elf == NULL || elf_getphdrnum(elf, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        Elf_Data *data;
        uint64_t off, left;

        if (gelf_getphdr(elf, (int)i, &segment) == NULL || segment.p_type != PT_LOAD ||
            address - segment.p_vaddr >= segment.p_filesz)
            continue;
        off = address - segment.p_vaddr;
        left = segment.p_filesz - off;
        d->code_bytes = left < sizeof d->code ? (uint32_t)left : (uint32_t)sizeof d->code;
        data = elf_getdata_rawchunk(elf, (int64_t)(segment.p_offset + off), d->code_bytes,
                                    ELF_T_BYTE);
        if (data != NULL)
            memcpy(d->code, data->d_buf, d->code_bytes);
        else
            d->code_bytes = 0;
        return;
    }
}

static void
consider(struct definition_search *s, struct object *o, Dwfl_Module *module, int index)
{
    GElf_Word section = SHN_UNDEF;
    GElf_Addr address = 0;
    GElf_Sym symbol = {0};
    const char *name =
        dwfl_module_getsym_info(module, index, &symbol, &address, &section, NULL, NULL);
    struct definition d = {.address = address, .size_bytes = symbol.st_size,
                           .type = GELF_ST_TYPE(symbol.st_info)};

    if (name == NULL || section == SHN_UNDEF || section == SHN_ABS || d.type == STT_SECTION ||
        d.type == STT_FILE)
        return;
    while (d.name < s->count && strcmp(name, s->names[d.name]) != 0)
        d.name++;
    if (d.name == s->count)
        return;
    read_code(object_elf(o), d.address, &d);
    arena_grow(s->arena, &s->found, &s->capacity, s->found_count, sizeof *s->found);
    s->found[s->found_count++] = d;
}

/* Return the places with files of process PID. */
static struct symbol_paths
paths_of(uint32_t pid, struct arena *arena)
{
    return (struct symbol_paths){.sysroot = arena_printf(arena, "/proc/%u/root", pid), .pid = pid};
}

size_t
definitions_find(const struct profile_module *m, uint32_t pid, const char *const *names,
                 size_t count, struct arena *arena, struct definition **ret)
{
    struct definition_search s = {.names = names, .count = count, .arena = arena};
    struct symbol_paths paths = paths_of(pid, arena);
    struct object_failure ignored;
    struct object *o = object_open(m, &paths, &ignored);
    int symbols = o != NULL ? dwfl_module_getsymtab(object_module(o)) : 0;

    for (int i = 1; i < symbols; i++)
        consider(&s, o, object_module(o), i);
    object_close(o);
    *ret = s.found;
    return s.found_count;
}

/* Return true if MATCHES is true for a function of M. */
static bool
module_has(const struct profile_module *m, const struct symbol_paths *paths,
           bool (*matches)(void *arg, const char *function), void *arg)
{
    struct object_failure ignored;
    struct object *o = object_open(m, paths, &ignored);
    int symbols = o != NULL ? dwfl_module_getsymtab(object_module(o)) : 0;
    bool found = false;

    for (int i = 1; i < symbols && !found; i++) {
        struct arena scratch = {0};
        GElf_Word section = SHN_UNDEF;
        GElf_Addr address = 0;
        GElf_Sym symbol = {0};
        const char *name = dwfl_module_getsym_info(object_module(o), i, &symbol, &address,
                                                   &section, NULL, NULL);

        found = name != NULL && section != SHN_UNDEF &&
                (GELF_ST_TYPE(symbol.st_info) == STT_FUNC ||
                 GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) &&
                matches(arg, demangle(&scratch, demangle_strip_clone(&scratch, name)));
        arena_release(&scratch);
    }
    object_close(o);
    return found;
}

bool
definitions_any(const struct profile *p, bool (*matches)(void *arg, const char *function),
                void *arg)
{
    const struct symbol_options options = {.no_cache = true};
    struct symbol_paths paths = object_paths(p, &options);

    for (size_t i = 1; i < p->module_count; i++)
        if (p->modules[i].path[0] == '/' && !profile_is_recorder(p->modules[i].path) &&
            module_has(&p->modules[i], &paths, matches, arg))
            return true;
    return false;
}

bool
definitions_are_stripped(const struct profile_module *m, uint32_t pid)
{
    struct arena scratch = {0};
    struct symbol_paths paths = paths_of(pid, &scratch);
    struct object_failure failure = {0};
    enum profile_symbols symbols = object_probe(m, &paths, &failure);

    arena_release(&scratch);
    return symbols == SYMBOLS_NONE || symbols == SYMBOLS_EXPORTS;
}
