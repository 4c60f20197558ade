/* hook_names.c: where the functions are that are hooked, and names that nobody has.
 *
 * Objects are searched here, by their hash tables, in the order in which they were loaded, from
 * behind the recorder on. dlsym would not do: when it fails it allocates, the allocator may do that
 * by a function that is hooked, and that one would be looked up with the first search half done,
 * which libc does not survive. And it does not find what a plug-in alone can see.
 *
 * The library of stubs defines every name that is to be hooked, in every process of the run. One
 * that asks whether a name exists, by a weak reference (`if (mallocx != NULL)`) or by dlsym, would
 * be told that it does. So before the first constructor runs, when all references of the program
 * and its libraries are bound, each name is looked for. If nobody has it, then
 *
 *   - weak references that lead to its stub become null again, as they were without us;
 *   - its symbol gets the value 0, which no lookup accepts; so dlsym, and libraries that are
 *     loaded later, do not see it. Unless the user has asked for this very name: then it may be
 *     known that such a library brings it.
 *
 * Strong references need nothing: where nobody has the name the program does not start.
 */
#include "monitor/hook_names.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "base/atomics.h"
#include "monitor/next.h"
#include "monitor/staying.h"
#include "monitor/sys.h"

enum { PAGE_BYTES = 4096 };

/* What of an object's dynamic section matters here. */
struct object {
    uint64_t base;
    const Elf64_Sym *symbols;
    const char *names;
    const uint32_t *gnu_hash, *hash;
    const uint16_t *versions;
    const Elf64_Rela *usual, *calls;
    uint64_t usual_bytes, calls_bytes, relative_count;
    uint64_t sealed, sealed_end; // Addresses that can only be read by now.
    bool is_ours;                // The recorder.
    bool is_stubs;
};

/* --- Objects ---------------------------------------------------------------------------------- */

/* The loader has made addresses of the pointers in a dynamic section that it could write to. */
static const void *
pointer_in(uint64_t base, uint64_t value)
{
    return (const void *)(uintptr_t)(value < base ? base + value : value);
}

static void
read_table(const Elf64_Dyn *d, struct object *o)
{
    const void *p = pointer_in(o->base, d->d_un.d_ptr);

    switch (d->d_tag) {
    case DT_SYMTAB:
        o->symbols = p;
        break;
    case DT_STRTAB:
        o->names = p;
        break;
    case DT_GNU_HASH:
        o->gnu_hash = p;
        break;
    case DT_HASH:
        o->hash = p;
        break;
    case DT_VERSYM:
        o->versions = p;
        break;
    case DT_RELA:
        o->usual = p;
        break;
    case DT_JMPREL:
        o->calls = p;
        break;
    case DT_RELASZ:
        o->usual_bytes = d->d_un.d_val;
        break;
    case DT_RELACOUNT:
        o->relative_count = d->d_un.d_val;
        break;
    case DT_PLTRELSZ:
        o->calls_bytes = d->d_un.d_val;
        break;
    }
}

static struct object
read_object(const struct dl_phdr_info *info, uint64_t stubs)
{
    struct object o = {.base = info->dlpi_addr};
    uint64_t here = (uint64_t)(uintptr_t)read_object;

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &info->dlpi_phdr[i];
        uint64_t start = o.base + p->p_vaddr;

        if (p->p_type == PT_DYNAMIC)
            for (const Elf64_Dyn *d = (const Elf64_Dyn *)(uintptr_t)start; d->d_tag; d++)
                read_table(d, &o);
        if (p->p_type == PT_GNU_RELRO) {
            o.sealed = round_down(start, PAGE_BYTES);
            o.sealed_end = round_down(start + p->p_memsz, PAGE_BYTES);
        }
        if (p->p_type == PT_LOAD) {
            o.is_ours |= here - start < p->p_memsz;
            o.is_stubs |= stubs - start < p->p_memsz;
        }
    }
    return o;
}

/* --- Search ----------------------------------------------------------------------------------- */

struct search {
    const char *name;
    uint64_t stubs; // An address in the library of stubs.
    uint32_t gnu_hash, hash;
    bool behind;    // The recorder has been passed.
    uint64_t found; // Address of the function; 0 = nobody has had it so far.
};

static bool
is_wanted(const struct search *s, const struct object *o, uint32_t index)
{
    const Elf64_Sym *symbol = &o->symbols[index];
    bool old = o->versions != NULL && (o->versions[index] & 0x8000) != 0;

    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 && !old &&
           ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
           strcmp(o->names + symbol->st_name, s->name) == 0;
}

/* The index of the symbol; 0 if the object has none. */
static uint32_t
search_gnu(const struct search *s, const struct object *o)
{
    uint32_t buckets = o->gnu_hash[0], first = o->gnu_hash[1], words = o->gnu_hash[2];
    const uint32_t *bucket = o->gnu_hash + 4 + (size_t)words * 2;
    const uint32_t *chain = bucket + buckets;
    uint32_t i = buckets != 0 ? bucket[s->gnu_hash % buckets] : 0;

    if (i < first || i == 0)
        return 0;
    for (;; i++) {
        if ((chain[i - first] | 1) == (s->gnu_hash | 1) && is_wanted(s, o, i))
            return i;
        if (chain[i - first] & 1)
            return 0;
    }
}

static uint32_t
search_hash(const struct search *s, const struct object *o)
{
    uint32_t buckets = o->hash[0];
    uint32_t i = buckets != 0 ? o->hash[2 + s->hash % buckets] : 0;

    while (i != 0 && !is_wanted(s, o, i))
        i = o->hash[2 + buckets + i];
    return i;
}

static int
search_object(struct dl_phdr_info *info, size_t size_bytes, void *arg)
{
    struct search *s = arg;
    struct object o = read_object(info, s->stubs);
    const Elf64_Sym *symbol;
    uint32_t index = 0;

    (void)size_bytes;
    if (s->behind && !o.is_stubs && o.symbols != NULL && o.names != NULL) {
        if (o.gnu_hash != NULL)
            index = search_gnu(s, &o);
        else if (o.hash != NULL)
            index = search_hash(s, &o);
    }
    s->behind |= o.is_ours;
    if (index == 0)
        return 0;
    symbol = &o.symbols[index];
    s->found = o.base + symbol->st_value;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
        s->found = (uint64_t)(uintptr_t)((void *(*)(void))(uintptr_t)s->found)();
    return 1;
}

void *
hook_names_find(const struct hook_slot *slot)
{
    struct search s = {.name = (const char *)slot + slot->name_off,
                       .stubs = (uint64_t)(uintptr_t)slot,
                       .gnu_hash = 5381};

    for (const char *c = s.name; *c != '\0'; c++) {
        s.gnu_hash = s.gnu_hash * 33 + (unsigned char)*c;
        s.hash = (s.hash << 4) + (unsigned char)*c;
        s.hash = (s.hash ^ (s.hash & 0xf0000000) >> 24) & 0x0fffffff;
    }
    dl_iterate_phdr(search_object, &s);
    return (void *)(uintptr_t)s.found;
}

/* --- Names that nobody has -------------------------------------------------------------------- */

struct hidden {
    uintptr_t stubs;
    uint64_t count;
    const struct hook_slot *slots;
};

/* Has nobody the name of the stub at ADDRESS? */
static bool
is_hidden(const struct hidden *h, uint64_t address)
{
    uint64_t index = (address - h->stubs) / HOOK_STUB_BYTES;

    return address >= h->stubs && index < h->count && h->slots[index].found == 0;
}

/* Store N at PLACE, which may be sealed. */
static void
store_at(const struct object *o, uint64_t *place, uint64_t n)
{
    uint64_t address = (uint64_t)(uintptr_t)place;
    void *page = (void *)(uintptr_t)round_down(address, PAGE_BYTES);
    bool sealed = address >= o->sealed && address < o->sealed_end;

    if (sealed && sys_mprotect(page, PAGE_BYTES, PROT_READ | PROT_WRITE) < 0)
        return;
    *place = n;
    if (sealed)
        sys_mprotect(page, PAGE_BYTES, PROT_READ);
}

static void
clear_weak(const struct hidden *h, const struct object *o, const Elf64_Rela *relocation)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    const Elf64_Sym *symbol = &o->symbols[ELF64_R_SYM(relocation->r_info)];
    uint64_t *place = (uint64_t *)(uintptr_t)(o->base + relocation->r_offset);
    uint64_t more = type == R_X86_64_64 ? (uint64_t)relocation->r_addend : 0;

    if ((type == R_X86_64_64 || type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT) &&
        symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_WEAK &&
        is_hidden(h, *place - more))
        store_at(o, place, more);
}

static int
clear_in_object(struct dl_phdr_info *info, size_t size_bytes, void *arg)
{
    const struct hidden *h = arg;
    struct object o = read_object(info, h->stubs);

    (void)size_bytes;
    if (o.symbols == NULL)
        return 0;
    for (uint64_t i = o.relative_count; o.usual && i < o.usual_bytes / sizeof *o.usual; i++)
        clear_weak(h, &o, &o.usual[i]);
    for (uint64_t i = 0; o.calls && i < o.calls_bytes / sizeof *o.calls; i++)
        clear_weak(h, &o, &o.calls[i]);
    return 0;
}

/* Process constants, once hook_names_begin has run. */
static struct hook_slot *known_slots;
static uint64_t known_count;

uintptr_t
hook_names_begin(uintptr_t stubs, uintptr_t count, uintptr_t unused, uintptr_t unused_too,
                 uintptr_t unused_as_well, struct hook_slot *slots)
{
    struct hidden h = {stubs, count, slots};
    bool any = false;

    (void)unused, (void)unused_too, (void)unused_as_well;
    next_resolve();
    staying_in_front_of_all(&next);
    for (uint64_t i = 0; i < count; i++) {
        slots[i].found = (uint64_t)(uintptr_t)hook_names_find(&slots[i]);
        any |= slots[i].found == 0;
    }
    known_slots = slots;
    known_count = count;
    if (any)
        dl_iterate_phdr(clear_in_object, &h);
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Sym *symbol = (Elf64_Sym *)(void *)((char *)&slots[i] + slots[i].symbol_off);

        if (slots[i].found == 0 && slots[i].wanted == 0)
            store_release(&symbol->st_value, (Elf64_Addr)0);
    }
    return 0;
}

void
hook_names_forget(void)
{
    for (uint64_t i = 0; i < known_count; i++) {
        // What was there at the start is never unloaded. To look for it anew would take the
        // loader's lock; had another thread that while this one forks, the child would hang.
        if (known_slots[i].found == 0)
            store_release(&known_slots[i].function, UINT64_C(0));
    }
}
