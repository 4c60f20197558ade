/* symbol_table.c: the symbols of a module, by address.
 *
 * Among the symbols whose [value, value + size) covers the address, the innermost is used, then the
 * best name. Assembler labels without a size extend to the next symbol of their section. An address
 * outside of all symbols gets no name, however near the next one is.
 *
 * The first request loads all symbols of the module's file and of its separate debug file, which
 * libdwfl has found (dwfl.c). */
#include "symbol/symbol_table.h"

#include <elfutils/libdwfl.h>
#include <string.h>

/* Return the end of the section SHNDX of ELF in the main file's addresses; 0 if it is a special
 * index. */
static uint64_t
section_end(Elf *elf, GElf_Word shndx, uint64_t bias)
{
    GElf_Shdr header;
    Elf_Scn *section;

    if (elf == NULL || shndx == SHN_UNDEF || shndx >= SHN_LORESERVE)
        return 0;
    section = elf_getscn(elf, shndx);
    if (section == NULL || gelf_getshdr(section, &header) == NULL)
        return 0;
    return header.sh_addr + header.sh_size + bias;
}

static bool
names_code(unsigned type, const char *name)
{
    if (name == NULL || name[0] == '\0')
        return false;
    return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static void
symbol_table_add(struct symbol_table *t, Dwfl_Module *module, int index, struct arena *arena)
{
    GElf_Sym sym = {0};
    GElf_Addr low = 0;
    GElf_Word shndx = SHN_UNDEF;
    Elf *elf = NULL;
    Dwarf_Addr bias = 0;
    const char *name = dwfl_module_getsym_info(module, index, &sym, &low, &shndx, &elf, &bias);
    struct symbol s = {.name = name, .low = low, .sized = sym.st_size != 0};
    unsigned type = GELF_ST_TYPE(sym.st_info);

    if (!names_code(type, name) || shndx == SHN_UNDEF)
        return;
    s.rank = (uint8_t)((type != STT_NOTYPE) << 2);
    if (GELF_ST_BIND(sym.st_info) == STB_GLOBAL)
        s.rank |= 2;
    else if (GELF_ST_BIND(sym.st_info) == STB_WEAK)
        s.rank |= 1;
    ranges_add(&t->ranges, arena, low, s.sized ? low + sym.st_size : section_end(elf, shndx, bias),
               (uint32_t)t->count);
    arena_grow(arena, &t->v, &t->capacity, t->count, sizeof *t->v);
    t->v[t->count++] = s;
}

/* Shorten labels without a size to the next symbol. */
static void
clip_labels(struct symbol_table *t)
{
    struct ranges *r = &t->ranges;
    uint64_t next = UINT64_MAX; // Lowest `low` of the ranges that begin above the current one.

    for (size_t i = r->count; i-- > 0;) {
        if (i + 1 < r->count && r->v[i + 1].low > r->v[i].low)
            next = r->v[i + 1].low;
        if (!t->v[r->v[i].id].sized && r->v[i].high > next)
            r->v[i].high = next;
    }
}

static void
symbol_table_load(struct symbol_table *t, Dwfl_Module *module, struct arena *arena)
{
    int count;

    if (t->loaded)
        return;
    t->loaded = true;
    count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; i++)
        symbol_table_add(t, module, i, arena);
    ranges_sort(&t->ranges, arena);
    clip_labels(t);
    ranges_sort(&t->ranges, arena);
}

/* Return true if A is a better name than B for an address that both cover. */
static bool
is_better(const struct symbol *a, const struct symbol *b)
{
    size_t underscores_a = strspn(a->name, "_");
    size_t underscores_b = strspn(b->name, "_");

    if (a->sized != b->sized)
        return a->sized;
    if (a->low != b->low)
        return a->low > b->low;
    if (a->rank != b->rank)
        return a->rank > b->rank;
    if (underscores_a != underscores_b)
        return underscores_a < underscores_b;
    return strcmp(a->name, b->name) < 0;
}

const struct symbol *
symbol_table_find(struct symbol_table *t, Dwfl_Module *module, uint64_t address,
                  struct arena *arena)
{
    const struct symbol *best = NULL;
    const struct range *r;
    size_t cursor;

    symbol_table_load(t, module, arena);
    cursor = ranges_start(&t->ranges, address);
    while ((r = ranges_next(&t->ranges, address, &cursor)) != NULL) {
        const struct symbol *s = &t->v[r->id];

        if (best == NULL || is_better(s, best))
            best = s;
    }
    return best;
}
