/* symbols_interposed.c: the dynamic symbols of loaded objects, read in place.
 *
 * dlsym is unsuitable. It waits for a thread that is loading an object, perhaps in a constructor
 * that waits for the calling thread. It replaces or frees an error message that the program has not
 * yet read with dlerror. When it fails it allocates, perhaps with the very function that is being
 * looked up. It does not find symbols that are visible only to a plug-in. So symbols are looked up
 * here, by the objects' hash tables, in the order of the chain of link maps.
 *
 * The chain. Objects that the program was started with come first in it. They are never unloaded,
 * and nothing is ever inserted between them; their order is the search order of the global scope.
 * Objects behind them were loaded later and may be unloaded. A reader of those holds the chain: the
 * recorder's dlclose waits a bounded time for such readers, which never block while they hold it. A
 * new reader waits a bounded time for a dlclose in progress, and does not hold meanwhile, or the
 * two would wait for each other. Waiting for its end could deadlock, because a destructor may be
 * waiting for the reader.
 *
 * A reader that is about to call dlclose need not hold. It calls dl_iterate_phdr, whose lock
 * dlclose takes as well when it unmaps an object. So it waits only for what its dlclose waits for.
 *
 * The rules for definitions and references follow the gABI and the Linux Standard Base's rules for
 * versions. A reference with a version accepts a definition of that version, even a hidden one, or
 * one without a version. A reference without a version accepts the default. */
#include "allocator/symbols.h"

#include <string.h>
#include <sys/mman.h>

#include "base/atomics.h"
#include "platform/process.h"
#include "platform/sys.h"
#include "unwind/unwind.h"

enum { PAGE_BYTES = 4096, VERSION_HIDDEN = 0x8000, ACQUIRE_WAITS = 1000 };

/* --- Objects ---------------------------------------------------------------------------------- */

/* Return a pointer of a dynamic section. The loader has relocated it if it could write to the
 * section. */
static const void *
pointer_in(uint64_t base, uint64_t value)
{
    return (const void *)(uintptr_t)(value < base ? base + value : value);
}

static void
symbols_read_entry(const Elf64_Dyn *d, struct symbols *o)
{
    const void *p = pointer_in(o->base, d->d_un.d_ptr);

    switch (d->d_tag) {
    case DT_SYMTAB:
        o->table = p;
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
    case DT_VERDEF:
        o->definitions = p;
        break;
    case DT_VERNEED:
        o->needs = p;
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

bool
symbols_read(const struct link_map *map, struct symbols *ret)
{
    *ret = (struct symbols){.base = map->l_addr};
    for (const Elf64_Dyn *d = map->l_ld; d != NULL && d->d_tag != DT_NULL; d++)
        symbols_read_entry(d, ret);
    return ret->table != NULL && ret->names != NULL && (ret->gnu_hash != NULL || ret->hash != NULL);
}

/* --- Names ------------------------------------------------------------------------------------ */

struct symbols_name
symbols_name(const char *text, const char *version)
{
    struct symbols_name n = {.text = text, .version = version, .gnu_hash = 5381};

    for (const char *c = text; *c != '\0'; c++) {
        n.gnu_hash = n.gnu_hash * 33 + (unsigned char)*c;
        n.hash = (n.hash << 4) + (unsigned char)*c;
        n.hash = (n.hash ^ (n.hash & 0xf0000000) >> 24) & 0x0fffffff;
    }
    return n;
}

/* Return the name of the version that O defines as number INDEX; NULL if there is none. */
static const char *
version_text(const struct symbols *o, uint32_t index)
{
    const Elf64_Verdef *v = o->definitions;

    while (v != NULL) {
        const Elf64_Verdaux *name = (const void *)((const char *)v + v->vd_aux);

        if ((v->vd_ndx & ~VERSION_HIDDEN) == index)
            return o->names + name->vda_name;
        v = v->vd_next != 0 ? (const void *)((const char *)v + v->vd_next) : NULL;
    }
    return NULL;
}

const char *
symbols_needed_version(const struct symbols *o, uint32_t index)
{
    uint32_t version = o->versions != NULL ? o->versions[index] & ~(uint32_t)VERSION_HIDDEN : 0;
    const Elf64_Verneed *n = version > VER_NDX_GLOBAL ? o->needs : NULL;

    while (n != NULL) {
        const Elf64_Vernaux *each = (const void *)((const char *)n + n->vn_aux);

        for (uint32_t i = 0; i < n->vn_cnt; i++) {
            if ((each->vna_other & ~(uint32_t)VERSION_HIDDEN) == version)
                return o->names + each->vna_name;
            each = (const void *)((const char *)each + each->vna_next);
        }
        n = n->vn_next != 0 ? (const void *)((const char *)n + n->vn_next) : NULL;
    }
    return NULL;
}

static bool
is_version(const struct symbols *o, uint32_t index, const char *wanted)
{
    uint32_t version = o->versions != NULL ? o->versions[index] : (uint32_t)VER_NDX_GLOBAL;
    uint32_t number = version & ~(uint32_t)VERSION_HIDDEN;
    const char *text;

    if (number == VER_NDX_LOCAL)
        return false;
    if (wanted != NULL && number > VER_NDX_GLOBAL) {
        text = version_text(o, number);
        return text != NULL && strcmp(text, wanted) == 0;
    }
    return !(version & VERSION_HIDDEN);
}

static bool
is_definition(const struct symbols *o, uint32_t index, const struct symbols_name *name)
{
    const Elf64_Sym *s = &o->table[index];

    return s->st_shndx != SHN_UNDEF &&
           (s->st_value != 0 || ELF64_ST_TYPE(s->st_info) == STT_TLS) &&
           ELF64_ST_BIND(s->st_info) != STB_LOCAL &&
           strcmp(o->names + s->st_name, name->text) == 0 && is_version(o, index, name->version);
}

static uint32_t
find_by_gnu_hash(const struct symbols *o, const struct symbols_name *name)
{
    uint32_t buckets = o->gnu_hash[0], first = o->gnu_hash[1], words = o->gnu_hash[2];
    uint32_t shift = o->gnu_hash[3], hash = name->gnu_hash;
    const uint64_t *filter = (const uint64_t *)(const void *)(o->gnu_hash + 4);
    const uint32_t *bucket = (const uint32_t *)(filter + words);
    const uint32_t *chain = bucket + buckets;
    uint64_t word;
    uint32_t i;

    if (buckets == 0 || words == 0)
        return 0;
    word = filter[hash / 64 & (words - 1)];
    if (!(word >> hash % 64 & word >> (hash >> shift) % 64 & 1))
        return 0;
    i = bucket[hash % buckets];
    if (i < first || i == 0)
        return 0;
    for (;; i++) {
        if ((chain[i - first] | 1) == (hash | 1) && is_definition(o, i, name))
            return i;
        if (chain[i - first] & 1)
            return 0;
    }
}

static uint32_t
find_by_hash(const struct symbols *o, const struct symbols_name *name)
{
    uint32_t buckets = o->hash[0];
    uint32_t i = buckets != 0 ? o->hash[2 + name->hash % buckets] : 0;

    while (i != 0 && !is_definition(o, i, name))
        i = o->hash[2 + buckets + i];
    return i;
}

uint32_t
symbols_find(const struct symbols *o, const struct symbols_name *name)
{
    return o->gnu_hash != NULL ? find_by_gnu_hash(o, name) : find_by_hash(o, name);
}

bool
symbols_is_function(const struct symbols *o, uint32_t index)
{
    uint32_t type = ELF64_ST_TYPE(o->table[index].st_info);

    return type == STT_FUNC || type == STT_GNU_IFUNC;
}

void *
symbols_address(const struct symbols *o, uint32_t index)
{
    const Elf64_Sym *s = &o->table[index];
    uint64_t address = o->base + s->st_value;

    if (ELF64_ST_TYPE(s->st_info) == STT_GNU_IFUNC)
        return ((void *(*)(void))(uintptr_t)address)();
    return (void *)(uintptr_t)address;
}

uint32_t
symbols_references_end(const struct symbols *o)
{
    return o->gnu_hash != NULL ? o->gnu_hash[1] : o->hash[1];
}

/* --- The chain -------------------------------------------------------------------------------- */

static const struct link_map *own, *last; // Atomic; process constants once they are known.

static COLD void
find_own(void)
{
    const struct link_map *map, *none = NULL;
    struct unwind_object o;

    process_learn(); // Finding the object may need facts about the process.
    if (!unwind_find_object((uintptr_t)find_own, &o))
        return;
    map = o.link_map;
    while (map->l_next != NULL)
        map = map->l_next;
    cas_acq_rel(&last, &none, map); // The first thread stores the result, because a later one may
                                    // find more objects.
    store_release(&own, (const struct link_map *)o.link_map);
}

const struct link_map *
symbols_own(void)
{
    if (load_acquire(&own) == NULL)
        find_own();
    return load_acquire(&own);
}

const struct link_map *
symbols_first(void)
{
    const struct link_map *map = symbols_own();

    while (map->l_prev != NULL)
        map = map->l_prev;
    return map;
}

const struct link_map *
symbols_last(void)
{
    symbols_own();
    return load_acquire(&last);
}

const char *
symbols_defined_before(const char *name)
{
    const struct symbols_name n = symbols_name(name, NULL);
    const struct link_map *own_map = symbols_own();
    struct symbols o;

    for (const struct link_map *m = symbols_first(); m != own_map; m = m->l_next)
        if (symbols_read(m, &o) && symbols_find(&o, &n) != 0)
            return m->l_prev == NULL || m->l_name == NULL ? "" : m->l_name;
    return NULL;
}

/* Return the protection of the page of ADDRESS in O; -1 if its headers do not show it. */
static int
protection_at(const struct unwind_object *o, uint64_t address)
{
    const Elf64_Phdr *p = o->segments;
    uint64_t off = address - o->bias;
    int protection = -1;

    for (uint32_t i = 0; p != NULL && i < o->segment_count; i++) {
        if (off - p[i].p_vaddr >= p[i].p_memsz)
            continue;
        if (p[i].p_type == PT_GNU_RELRO)
            return PROT_READ;
        if (p[i].p_type == PT_LOAD)
            protection = (p[i].p_flags & PF_R ? PROT_READ : 0) |
                         (p[i].p_flags & PF_W ? PROT_WRITE : 0) |
                         (p[i].p_flags & PF_X ? PROT_EXEC : 0);
    }
    return protection;
}

bool
symbols_open(struct symbols_opened *ret, const struct symbols *symbols, const void *place,
             size_t size_bytes)
{
    uint64_t start = round_down((uintptr_t)place, PAGE_BYTES);
    uint64_t end = round_up((uintptr_t)place + size_bytes, PAGE_BYTES);
    struct unwind_object o;

    *ret = (struct symbols_opened){.start = (void *)(uintptr_t)start};
    // The dynamic linker does not list an object that it is still loading, so read the object's
    // header.
    if (!unwind_find_object((uintptr_t)place, &o) &&
        (!sys_is_readable(symbols->base) || !image_at(symbols->base, &o)))
        return false;
    ret->protection = protection_at(&o, (uintptr_t)place);
    if (ret->protection < 0)
        return false;
    if (ret->protection & PROT_WRITE)
        return true;
    ret->size_bytes = end - start;
    return sys_mprotect(ret->start, ret->size_bytes, ret->protection | PROT_WRITE) == 0;
}

void
symbols_close(const struct symbols_opened *o)
{
    if (o->size_bytes != 0)
        sys_mprotect(o->start, o->size_bytes, o->protection);
}

/* Atomic. In a child made by fork they may count threads that do not exist there, so every wait for
 * them has a bound. */
static uint32_t readers, unloaders;

bool
symbols_acquire(void)
{
    for (uint32_t i = 0;; i++) {
        add_seq_cst(&readers, 1u);
        if (load_seq_cst(&unloaders) == 0)
            return true;
        if (i == ACQUIRE_WAITS)
            return false;
        symbols_release();
        sys_wait(i);
    }
}

void
symbols_release(void)
{
    add_seq_cst(&readers, UINT32_MAX);
}

void
symbols_unload_begins(void)
{
    add_seq_cst(&unloaders, 1u);
    for (uint32_t i = 0; i < ACQUIRE_WAITS && load_seq_cst(&readers) != 0; i++)
        sys_wait(i);
}

void
symbols_unload_ends(void)
{
    add_seq_cst(&unloaders, UINT32_MAX);
}

static int
run_once(struct dl_phdr_info *unused, size_t size_bytes, void *function)
{
    (void)unused;
    (void)size_bytes;
    ((void (*)(void))(uintptr_t)function)();
    return 1; // Stop at the first object.
}

bool
symbols_run_locked(const struct link_map *libc, void (*function)(void))
{
    typedef int iterate_fn(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    struct symbols_name name = symbols_name("dl_iterate_phdr", NULL);
    struct symbols o;
    uint32_t index;

    if (libc == NULL || !symbols_read(libc, &o) || (index = symbols_find(&o, &name)) == 0)
        return false;
    ((iterate_fn *)symbols_address(&o, index))(run_once, (void *)(uintptr_t)function);
    return true;
}
