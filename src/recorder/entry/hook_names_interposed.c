/* hook_names_interposed.c: finds the hooked functions, and hides stubs for names that do not exist.
 *
 * The search covers the objects after the recorder in load order (symbols_interposed.c), including
 * objects that are visible only to plug-ins.
 *
 * The library of stubs defines every hooked name, in every process of the run. So a program that
 * tests whether a name exists, by a weak reference (`if (mallocx != NULL)`) or by dlsym, would
 * always find it. Therefore each name is looked up before the first constructor runs, when all
 * references of the program and its libraries are bound. If no other object defines the name, then
 *
 *   - weak references to its stub become null again, as without the recorder;
 *   - its symbol gets the value 0, which no lookup accepts; so dlsym, and libraries that are loaded
 *     later, do not find it. A name that the user requested explicitly is excepted, because a
 *     library that is loaded later may define it.
 *
 * Strong references need no treatment: without a definition the program does not start.
 *
 * A hooked name may belong to a variable. If the program that `run` starts defines the variable,
 * `run` refuses the name. In programs that this program starts, the dynamic linker has bound
 * references to the stub, and has not filled the program's copy of the variable. So before the
 * first constructor, this file binds the references to the variable, fills the copy, and hides the
 * symbol. A library that is loaded later may also define a variable. So a requested name without a
 * definition becomes an indirect function (STT_GNU_IFUNC) after all references are bound. The
 * dynamic linker then calls hook_names_bind for each new reference, which returns the stub or the
 * variable.
 *
 * Thread-local variables are not supported: their references contain offsets instead of
 * addresses. */
#include "entry/entry.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "allocator/real.h"
#include "allocator/symbols.h"
#include "base/atomics.h"
#include "unwind/unwind.h"

/* --- Search ----------------------------------------------------------------------------------- */

struct definition {
    struct symbols object;
    uint32_t index; // 0 = none.
};

/* Return the first definition of NAME after the recorder and before END, except in the library that
 * contains the address STUBS. */
static struct definition
hook_names_search(const struct symbols_name *name, const void *stubs, const struct link_map *end)
{
    struct unwind_object library = {0};
    struct definition d = {.index = 0};

    unwind_find_object((uintptr_t)stubs, &library);
    for (const struct link_map *map = symbols_own()->l_next; map != end && d.index == 0;
         map = map->l_next)
        if (map != library.link_map && symbols_read(map, &d.object))
            d.index = symbols_find(&d.object, name);
    return d;
}

static void *
hook_names_function_of(const struct definition *d)
{
    return d->index != 0 && symbols_is_function(&d->object, d->index)
               ? symbols_address(&d->object, d->index)
               : NULL;
}

static uintptr_t
variable_of(const struct definition *d)
{
    return d->index != 0 && !symbols_is_function(&d->object, d->index)
               ? (uintptr_t)symbols_address(&d->object, d->index)
               : 0;
}

static struct symbols_name
hook_names_name_of(const struct hook_slot *slot)
{
    return symbols_name((const char *)slot + slot->name_off, NULL);
}

static struct definition
search_at_start(const struct hook_slot *slot)
{
    struct symbols_name name = hook_names_name_of(slot);

    return hook_names_search(&name, slot, symbols_last()->l_next);
}

void *
hook_names_find(const struct hook_slot *slot)
{
    struct definition d = search_at_start(slot);
    struct symbols_name name = hook_names_name_of(slot);
    void *found = hook_names_function_of(&d);

    if (d.index != 0)
        return found;
    symbols_acquire();
    d = hook_names_search(&name, slot, NULL);
    found = hook_names_function_of(&d);
    symbols_release();
    return found;
}

/* --- References to stubs ---------------------------------------------------------------------- */

/* Constant after hook_names_begin, also in forked children. */
static struct hook_slot *known_slots;
static uint64_t known_count;
static uintptr_t known_stubs;

/* Return the slot whose stub is at ADDRESS, or NULL if there is none. */
static struct hook_slot *
slot_at(uint64_t address)
{
    uint64_t index = (address - known_stubs) / HOOK_STUB_BYTES;

    return address >= known_stubs && index < known_count ? &known_slots[index] : NULL;
}

static void
store_word(const struct symbols *o, uint64_t *place, uint64_t word)
{
    struct symbols_opened opened;

    if (symbols_open(&opened, o, place, sizeof *place)) {
        *place = word;
        symbols_close(&opened);
    }
}

/* Rebind the reference at PLACE in O to SYMBOL plus MORE in two cases: its stub hides a variable,
 * or the reference is weak and has no other definition. */
static void
bind_again(const struct symbols *o, const Elf64_Sym *symbol, uint64_t *place, uint64_t more)
{
    const struct hook_slot *slot = slot_at(*place - more);

    if (slot == NULL || slot->found != 0)
        return;
    if (slot->variable != 0 ||
        (symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_WEAK))
        store_word(o, place, slot->variable + more);
}

/* Fill O's copy of the variable SYMBOL, which is at PLACE, if a stub hides the original. */
static void
copy_again(const struct symbols *o, const Elf64_Sym *symbol, void *place)
{
    const char *name = o->names + symbol->st_name;
    struct symbols_opened opened;

    for (uint64_t i = 0; i < known_count; i++) {
        const struct hook_slot *slot = &known_slots[i];
        struct definition d;

        if (slot->variable == 0 || strcmp((const char *)slot + slot->name_off, name) != 0)
            continue;
        d = search_at_start(slot);
        if (d.object.table[d.index].st_size == symbol->st_size &&
            symbols_open(&opened, o, place, symbol->st_size)) {
            memcpy(place, (const void *)slot->variable, symbol->st_size);
            symbols_close(&opened);
        }
    }
}

static void
repair(const struct symbols *o, const Elf64_Rela *relocation)
{
    const Elf64_Sym *symbol = &o->table[ELF64_R_SYM(relocation->r_info)];
    uint64_t *place = (uint64_t *)(uintptr_t)(o->base + relocation->r_offset);

    switch ((uint32_t)ELF64_R_TYPE(relocation->r_info)) {
    case R_X86_64_64:
        bind_again(o, symbol, place, (uint64_t)relocation->r_addend);
        break;
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT:
        bind_again(o, symbol, place, 0);
        break;
    case R_X86_64_COPY:
        copy_again(o, symbol, place);
        break;
    }
}

static void
repair_all(void)
{
    const struct link_map *end = symbols_last()->l_next;

    for (const struct link_map *map = symbols_first(); map != end; map = map->l_next) {
        struct symbols o;

        if (!symbols_read(map, &o))
            continue;
        for (uint64_t i = o.relative_count; o.usual && i < o.usual_bytes / sizeof *o.usual; i++)
            repair(&o, &o.usual[i]);
        for (uint64_t i = 0; o.calls && i < o.calls_bytes / sizeof *o.calls; i++)
            repair(&o, &o.calls[i]);
    }
}

/* Hide the symbol of slot INDEX, which no other object defines, from the dynamic linker. If the
 * user requested the name, make the linker call hook_names_bind for it instead. */
static void
take_back(uint64_t index)
{
    struct hook_slot *slot = &known_slots[index];
    Elf64_Sym *symbol = (Elf64_Sym *)(void *)((char *)slot + slot->symbol_off);
    Elf64_Addr value = 0;

    if (slot->wanted != 0 && slot->variable == 0) {
        symbol->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
        value = symbol->st_value + known_count * HOOK_STUB_BYTES;
    }
    store_release(&symbol->st_value, value);
}

uintptr_t
hook_names_begin(uintptr_t stubs, uintptr_t count, uintptr_t unused, uintptr_t unused_too,
                 uintptr_t unused_as_well, struct hook_slot *slots)
{
    bool any = false;

    (void)unused, (void)unused_too, (void)unused_as_well;
    real_resolve();
    known_slots = slots;
    known_count = count;
    known_stubs = stubs;
    for (uint64_t i = 0; i < count; i++) {
        struct definition d = search_at_start(&slots[i]);

        slots[i].found = (uint64_t)(uintptr_t)hook_names_function_of(&d);
        slots[i].variable = variable_of(&d);
        any |= slots[i].found == 0;
    }
    if (any)
        repair_all();
    for (uint64_t i = 0; i < count; i++)
        if (slots[i].found == 0)
            take_back(i);
    return 0;
}

uintptr_t
hook_names_bind(uintptr_t unused, uintptr_t unused_too, uintptr_t unused_as_well,
                uintptr_t unused_again, uintptr_t unused_at_last, struct hook_slot *slot)
{
    struct symbols_name name = hook_names_name_of(slot);
    struct definition d;
    uintptr_t variable;

    (void)unused, (void)unused_too, (void)unused_as_well, (void)unused_again, (void)unused_at_last;
    symbols_acquire();
    d = hook_names_search(&name, slot, NULL);
    variable = variable_of(&d);
    symbols_release();
    return variable != 0 ? variable
                         : known_stubs + (uint64_t)(slot - known_slots) * HOOK_STUB_BYTES;
}

void
hook_names_invalidate(void)
{
    for (uint64_t i = 0; i < known_count; i++) {
        // Keep functions that were found at the start: they are never unloaded.
        if (known_slots[i].found == 0)
            store_release(&known_slots[i].function, UINT64_C(0));
    }
}
