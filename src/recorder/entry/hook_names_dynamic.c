/* hook_names_dynamic.c: where the functions are that are hooked, and names that nobody has.
 *
 * Objects are searched in the order in which they were loaded, from behind the recorder on
 * (symbols_dynamic.c), what plug-ins alone can see included.
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
#include "entry/hook_names.h"

#include <elf.h>
#include <link.h>

#include "allocator/behind.h"
#include "allocator/symbols.h"
#include "base/atomics.h"
#include "unwind/unwind.h"

/* --- Search ----------------------------------------------------------------------------------- */

/* The definition of NAME behind us that comes first up to END, but for those of the library that
 * has an address STUBS. */
static void *
search(const struct symbols_name *name, const void *stubs, const struct link_map *end)
{
    struct unwind_object library = {0};

    unwind_find_object((uintptr_t)stubs, &library);
    for (const struct link_map *map = symbols_own()->l_next; map != end; map = map->l_next) {
        struct symbols o;
        uint32_t index =
            map != library.link_map && symbols_read(map, &o) ? symbols_find(&o, name) : 0;

        if (index != 0)
            return symbols_address(&o, index);
    }
    return NULL;
}

void *
hook_names_find(const struct hook_slot *slot)
{
    struct symbols_name name = symbols_name((const char *)slot + slot->name_off, NULL);
    void *found = search(&name, slot, symbols_last()->l_next);

    if (found != NULL)
        return found;
    symbols_hold();
    found = search(&name, slot, NULL);
    symbols_release();
    return found;
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

static void
clear_weak(const struct hidden *h, const struct symbols *o, const Elf64_Rela *relocation)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    const Elf64_Sym *symbol = &o->table[ELF64_R_SYM(relocation->r_info)];
    uint64_t *place = (uint64_t *)(uintptr_t)(o->base + relocation->r_offset);
    uint64_t more = type == R_X86_64_64 ? (uint64_t)relocation->r_addend : 0;
    struct symbols_opened opened;

    if ((type == R_X86_64_64 || type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT) &&
        symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_WEAK &&
        is_hidden(h, *place - more) && symbols_open(&opened, o, place, sizeof *place)) {
        *place = more;
        symbols_close(&opened);
    }
}

static void
clear_all_weak(const struct hidden *h)
{
    const struct link_map *end = symbols_last()->l_next;

    for (const struct link_map *map = symbols_first(); map != end; map = map->l_next) {
        struct symbols o;

        if (!symbols_read(map, &o))
            continue;
        for (uint64_t i = o.relative_count; o.usual && i < o.usual_bytes / sizeof *o.usual; i++)
            clear_weak(h, &o, &o.usual[i]);
        for (uint64_t i = 0; o.calls && i < o.calls_bytes / sizeof *o.calls; i++)
            clear_weak(h, &o, &o.calls[i]);
    }
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
    behind_resolve();
    for (uint64_t i = 0; i < count; i++) {
        slots[i].found = (uint64_t)(uintptr_t)hook_names_find(&slots[i]);
        any |= slots[i].found == 0;
    }
    known_slots = slots;
    known_count = count;
    if (any)
        clear_all_weak(&h);
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
        // What was there at the start is never unloaded.
        if (known_slots[i].found == 0)
            store_release(&known_slots[i].function, UINT64_C(0));
    }
}
