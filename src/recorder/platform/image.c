/* image.c: finds functions of a mapped object by the object's own tables.
 *
 * Some functions must come from the kernel or the dynamic linker. A lookup by name in all objects
 * would find the first definition, which may be the program's. So the name is looked up in one
 * object, in the way of the dynamic linker: by a hash table of either kind.
 *
 * Invariant: every word is checked to be in a readable segment before it is read, and every loop
 * ends. Corrupt tables can only cause a wrong result.
 *
 * Versions are ignored: the few names that are looked up have one version each. */
#include "platform/process.h"

#include <elf.h>
#include <string.h>

enum { PAGE_BYTES = 4096, SEGMENTS_MAX = 64, CHAIN_MAX = 1 << 16 };

bool
image_at(uint64_t header, struct unwind_object *ret_object)
{
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)(uintptr_t)header;
    struct unwind_object o = {.start = header};
    const Elf64_Phdr *s;
    bool placed = false;

    if (header == 0 || header % PAGE_BYTES != 0 || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
        h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_phentsize != sizeof *s ||
        h->e_phnum > SEGMENTS_MAX || h->e_phoff % _Alignof(Elf64_Phdr) != 0 ||
        h->e_phoff > PAGE_BYTES - h->e_phnum * sizeof *s)
        return false;
    s = (const Elf64_Phdr *)(uintptr_t)(header + h->e_phoff);
    for (uint32_t i = 0; i < h->e_phnum && !placed; i++) {
        placed = s[i].p_type == PT_LOAD && s[i].p_offset == 0;
        o.bias = header - s[i].p_vaddr;
    }
    for (uint32_t i = 0; i < h->e_phnum; i++)
        if (s[i].p_type == PT_LOAD && o.bias + s[i].p_vaddr + s[i].p_memsz > o.end)
            o.end = o.bias + s[i].p_vaddr + s[i].p_memsz;
    o.segments = s;
    o.segment_count = h->e_phnum;
    *ret_object = o;
    return placed;
}

/* Addresses of the tables of an object that a search reads. */
struct tables {
    const struct unwind_object *object;
    const char *name;
    size_t name_bytes;                         // The NUL included.
    uint64_t symbols, strings, hash, gnu_hash; // 0 = missing.
};

/* Return ADDRESS as a pointer; NULL if SIZE_BYTES there are not readable, or if ADDRESS is not a
 * multiple of ALIGN. */
static const void *
bytes_at(const struct unwind_object *o, uint64_t address, uint64_t size_bytes, uint64_t align)
{
    uint64_t end = address % align == 0 ? unwind_readable_end(o, address) : 0;

    return end > address && size_bytes <= end - address ? (const void *)(uintptr_t)address : NULL;
}

/* Return the 32-bit word at INDEX in the table at ADDRESS; 0 if it is not readable. */
static uint32_t
image_word_at(const struct unwind_object *o, uint64_t address, uint64_t index)
{
    const uint32_t *word = bytes_at(o, address + index * sizeof *word, sizeof *word, 4);

    return word != NULL ? *word : 0;
}

static void
read_tables(struct tables *t)
{
    const struct unwind_object *o = t->object;
    const Elf64_Phdr *s = o->segments;
    const Elf64_Dyn *d;
    uint64_t at = 0;

    for (uint32_t i = 0; i < o->segment_count; i++)
        if (s[i].p_type == PT_DYNAMIC)
            at = o->bias + s[i].p_vaddr;
    for (; at != 0 && (d = bytes_at(o, at, sizeof *d, 8)) != NULL && d->d_tag != DT_NULL;
         at += sizeof *d) {
        // The dynamic linker has relocated the values in most objects, but not in the vdso.
        uint64_t p = d->d_un.d_ptr;

        p = p >= o->start && p < o->end ? p : o->bias + p;
        if (d->d_tag == DT_SYMTAB)
            t->symbols = p;
        else if (d->d_tag == DT_STRTAB)
            t->strings = p;
        else if (d->d_tag == DT_HASH)
            t->hash = p;
        else if (d->d_tag == DT_GNU_HASH)
            t->gnu_hash = p;
    }
}

/* Return the symbol at INDEX if it is the function that the search looks for, else NULL. */
static const Elf64_Sym *
wanted(const struct tables *t, uint64_t index)
{
    const Elf64_Sym *s = bytes_at(t->object, t->symbols + index * sizeof *s, sizeof *s, 8);
    const char *name = s ? bytes_at(t->object, t->strings + s->st_name, t->name_bytes, 1) : NULL;

    return name != NULL && memcmp(name, t->name, t->name_bytes) == 0 &&
                   s->st_shndx != SHN_UNDEF && ELF64_ST_BIND(s->st_info) != STB_LOCAL &&
                   ELF64_ST_TYPE(s->st_info) == STT_FUNC
               ? s
               : NULL;
}

static const Elf64_Sym *
search_gnu(const struct tables *t)
{
    uint32_t buckets = image_word_at(t->object, t->gnu_hash, 0);
    uint32_t first = image_word_at(t->object, t->gnu_hash, 1);
    uint64_t bucket = t->gnu_hash + 16 + 8 * (uint64_t)image_word_at(t->object, t->gnu_hash, 2);
    uint32_t hash = 5381, i;
    const Elf64_Sym *s;

    for (const char *c = t->name; *c != '\0'; c++)
        hash = hash * 33 + (unsigned char)*c;
    i = buckets != 0 ? image_word_at(t->object, bucket, hash % buckets) : 0;
    for (uint32_t n = 0; n < CHAIN_MAX && i != 0 && i >= first; n++, i++) {
        uint32_t link = image_word_at(t->object, bucket + 4 * (uint64_t)buckets, i - first);

        if ((link | 1) == (hash | 1) && (s = wanted(t, i)) != NULL)
            return s;
        if (link & 1)
            return NULL;
    }
    return NULL;
}

static const Elf64_Sym *
search_plain(const struct tables *t)
{
    uint32_t buckets = image_word_at(t->object, t->hash, 0);
    uint32_t hash = 0, i;
    const Elf64_Sym *s;

    for (const char *c = t->name; *c != '\0'; c++) {
        hash = (hash << 4) + (unsigned char)*c;
        hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
    }
    i = buckets != 0 ? image_word_at(t->object, t->hash, 2 + (uint64_t)(hash % buckets)) : 0;
    for (uint32_t n = 0; n < CHAIN_MAX && i != 0; n++) {
        if ((s = wanted(t, i)) != NULL)
            return s;
        i = image_word_at(t->object, t->hash, 2 + (uint64_t)buckets + i);
    }
    return NULL;
}

void *
image_function(const struct unwind_object *object, const char *name)
{
    struct tables t = {.object = object, .name = name, .name_bytes = strlen(name) + 1};
    const Elf64_Sym *s = NULL;

    read_tables(&t);
    if (t.symbols != 0 && t.strings != 0 && t.gnu_hash != 0)
        s = search_gnu(&t);
    else if (t.symbols != 0 && t.strings != 0 && t.hash != 0)
        s = search_plain(&t);
    if (s == NULL || bytes_at(object, object->bias + s->st_value, 1, 1) == NULL)
        return NULL;
    return (void *)(uintptr_t)(object->bias + s->st_value);
}
