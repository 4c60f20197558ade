/* variable.c: find the variable at an address.
 *
 * Functions get names from debug information (dwfl.c). A pointer into a program's data only needs a
 * name such as "cache + 16", which the symbol tables provide: the full one, unless stripped, and
 * the dynamic one. The smallest symbol that covers the address is used, because members of a
 * structure may have symbols as well. As for functions, a file with a different build id is not
 * used.
 *
 * Thread-local variables of a program lie at the same distance from the thread pointer in all
 * threads. In libraries the distance depends on the order of loading, and is not known. */
#include "symbol/elf_names.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle.h"
#include "symbol/dwfl.h"

/* Variables by `start`; of the same `start`, the largest first. */
struct variable_list {
    struct variable *v;
    uint64_t *ends; // By variable: largest end of it and those in front.
    size_t count, capacity;
};

struct variables {
    struct arena arena;
    uint64_t first; // Address of the file's first byte, in the file's addresses.
    struct variable_list plain;
    struct variable_list local; // Thread-local variables; `start` is an offset in their segment.
    uint64_t local_bytes, local_alignment; // Size and alignment; 0 = none.
};

static int
variable_by_start(const void *a, const void *b)
{
    const struct variable *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->size_bytes > y->size_bytes ? -1 : x->size_bytes < y->size_bytes;
}

/* Read the program headers of ELF into V. */
static void
read_segments(Elf *elf, struct variables *v)
{
    size_t count;

    v->first = UINT64_MAX;
    if (elf_getphdrnum(elf, &count) != 0)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr h;

        if (gelf_getphdr(elf, (int)i, &h) == NULL)
            continue;
        if (h.p_type == PT_LOAD && h.p_vaddr - h.p_offset < v->first)
            v->first = h.p_vaddr - h.p_offset;
        if (h.p_type == PT_TLS) {
            v->local_bytes = h.p_memsz;
            v->local_alignment = h.p_align != 0 ? h.p_align : 1;
        }
    }
    if (v->first == UINT64_MAX)
        v->first = 0;
}

static void
read_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct variables *v)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = header->sh_entsize != 0 ? header->sh_size / header->sh_entsize : 0;

    for (size_t i = 0; data != NULL && i < count; i++) {
        struct variable_list *list;
        const char *name;
        GElf_Sym s;
        unsigned type;

        if (gelf_getsym(data, (int)i, &s) == NULL || s.st_shndx == SHN_UNDEF || s.st_size == 0)
            continue;
        type = GELF_ST_TYPE(s.st_info);
        if (type != STT_OBJECT && type != STT_TLS)
            continue;
        name = elf_strptr(elf, header->sh_link, s.st_name);
        if (name == NULL || *name == '\0')
            continue;
        list = type == STT_TLS ? &v->local : &v->plain;
        arena_grow(&v->arena, &list->v, &list->capacity, list->count, sizeof *list->v);
        list->v[list->count++] =
            (struct variable){type == STT_TLS ? s.st_value : s.st_value - v->first, s.st_size,
                              arena_strdup(&v->arena, name)};
    }
}

static void
variable_list_finish(struct variables *v, struct variable_list *list)
{
    uint64_t end = 0;

    if (list->count > 1)
        qsort(list->v, list->count, sizeof *list->v, variable_by_start);
    list->ends = arena_array(&v->arena, list->count, sizeof *list->ends);
    for (size_t i = 0; i < list->count; i++) {
        if (list->v[i].start + list->v[i].size_bytes > end)
            end = list->v[i].start + list->v[i].size_bytes;
        list->ends[i] = end;
    }
}

struct variables *
variables_open(const struct profile *p, const struct profile_module *m)
{
    static const struct symbol_options defaults;
    struct symbol_paths paths = object_paths(p, &defaults);
    struct variables *v = xcalloc(1, sizeof *v);
    struct object_failure ignored;
    struct object *o = m->path[0] == '/' ? object_open(m, &paths, &ignored) : NULL;
    Elf *elf = o != NULL ? object_elf(o) : NULL;
    Elf_Scn *section = NULL;

    if (elf != NULL)
        read_segments(elf, v);
    while (elf != NULL && (section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;

        if (gelf_getshdr(section, &header) != NULL &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            read_symbols(elf, section, &header, v);
    }
    variable_list_finish(v, &v->plain);
    variable_list_finish(v, &v->local);
    object_close(o);
    return v;
}

void
variables_close(struct variables *v)
{
    if (v == NULL)
        return;
    arena_release(&v->arena);
    free(v);
}

/* Return the smallest variable of LIST at OFF; NULL if there is none. */
static const struct variable *
variable_at(const struct variable_list *list, uint64_t off)
{
    size_t low = 0, high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->v[middle].start <= off)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i-- > 0 && list->ends[i] > off;)
        if (off - list->v[i].start < list->v[i].size_bytes)
            return &list->v[i];
    return NULL;
}

const struct variable *
variables_at(const struct variables *v, uint64_t off)
{
    return variable_at(&v->plain, off);
}

const struct variable *
variables_local_at(const struct variables *v, uint64_t below, uint64_t *ret_off)
{
    uint64_t front = v->local_alignment != 0 ? round_up(v->local_bytes, v->local_alignment) : 0;

    if (below == 0 || below > front)
        return NULL;
    *ret_off = front - below;
    return variable_at(&v->local, *ret_off);
}

const char *
variable_name(const struct profile *p, const struct profile_module *m, uint64_t off,
              struct arena *arena, uint64_t *ret_off)
{
    struct variables *v = variables_open(p, m);
    const struct variable *found = variables_at(v, off);
    const char *name = NULL;

    if (found != NULL) {
        name = arena_strdup(arena, demangle(arena, found->name));
        *ret_off = off - found->start;
    }
    variables_close(v);
    return name;
}
