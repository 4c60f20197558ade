/* hook_names.c: programs must not find functions that are not there.
 *
 * The library of stubs defines every name that is to be hooked, in every process of the run. One
 * that asks whether a name exists, by a weak reference (`if (mallocx != NULL)`) or by dlsym, would
 * be told that it does. So before the first constructor runs, when all references of the program
 * and its libraries are bound, each name is looked for behind us. If nobody has it, then
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
#include <errno.h>
#include <link.h>
#include <sys/mman.h>

#include "base/atomics.h"
#include "monitor/next.h"
#include "monitor/sys.h"

enum { PAGE_BYTES = 4096 };

struct hidden {
    uintptr_t stubs;
    uint64_t count;
    const struct hook_slot *slots;
};

/* What of an object's dynamic section matters here. */
struct relocations {
    const Elf64_Sym *symbols;
    const Elf64_Rela *usual, *calls;
    uint64_t usual_bytes, calls_bytes, relative_count;
    uint64_t sealed, sealed_end; // Addresses that can only be read by now.
};

/* Has nobody the name of the stub at ADDRESS? Such slots lead to themselves. */
static bool
is_hidden(const struct hidden *h, uint64_t address)
{
    uint64_t index = (address - h->stubs) / HOOK_STUB_BYTES;

    return address >= h->stubs && index < h->count &&
           h->slots[index].function == (uint64_t)(uintptr_t)&h->slots[index];
}

/* Store N at PLACE, which may be sealed. */
static void
store_at(const struct relocations *r, uint64_t *place, uint64_t n)
{
    uint64_t address = (uint64_t)(uintptr_t)place;
    void *page = (void *)(uintptr_t)round_down(address, PAGE_BYTES);
    bool sealed = address >= r->sealed && address < r->sealed_end;

    if (sealed && sys_mprotect(page, PAGE_BYTES, PROT_READ | PROT_WRITE) < 0)
        return;
    *place = n;
    if (sealed)
        sys_mprotect(page, PAGE_BYTES, PROT_READ);
}

static void
clear_weak(const struct hidden *h, const struct relocations *r, uint64_t base,
           const Elf64_Rela *relocation)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    const Elf64_Sym *symbol = &r->symbols[ELF64_R_SYM(relocation->r_info)];
    uint64_t *place = (uint64_t *)(uintptr_t)(base + relocation->r_offset);
    uint64_t more = type == R_X86_64_64 ? (uint64_t)relocation->r_addend : 0;

    if ((type == R_X86_64_64 || type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT) &&
        symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_WEAK &&
        is_hidden(h, *place - more))
        store_at(r, place, more);
}

/* The loader has made addresses of the pointers in a dynamic section that it could write to. */
static const void *
pointer_in(uint64_t base, uint64_t value)
{
    return (const void *)(uintptr_t)(value < base ? base + value : value);
}

static void
read_dynamic(uint64_t base, const Elf64_Dyn *d, struct relocations *r)
{
    for (; d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_SYMTAB:
            r->symbols = pointer_in(base, d->d_un.d_ptr);
            break;
        case DT_RELA:
            r->usual = pointer_in(base, d->d_un.d_ptr);
            break;
        case DT_RELASZ:
            r->usual_bytes = d->d_un.d_val;
            break;
        case DT_RELACOUNT:
            r->relative_count = d->d_un.d_val;
            break;
        case DT_JMPREL:
            r->calls = pointer_in(base, d->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            r->calls_bytes = d->d_un.d_val;
            break;
        }
    }
}

static int
clear_in_object(struct dl_phdr_info *object, size_t size_bytes, void *arg)
{
    const struct hidden *h = arg;
    struct relocations r = {.usual_bytes = 0};
    uint64_t base = object->dlpi_addr;

    (void)size_bytes;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &object->dlpi_phdr[i];

        if (p->p_type == PT_DYNAMIC)
            read_dynamic(base, (const Elf64_Dyn *)(uintptr_t)(base + p->p_vaddr), &r);
        if (p->p_type == PT_GNU_RELRO) {
            r.sealed = round_down(base + p->p_vaddr, PAGE_BYTES);
            r.sealed_end = round_down(base + p->p_vaddr + p->p_memsz, PAGE_BYTES);
        }
    }
    if (r.symbols == NULL)
        return 0;
    for (uint64_t i = r.relative_count; r.usual && i < r.usual_bytes / sizeof *r.usual; i++)
        clear_weak(h, &r, base, &r.usual[i]);
    for (uint64_t i = 0; r.calls && i < r.calls_bytes / sizeof *r.calls; i++)
        clear_weak(h, &r, base, &r.calls[i]);
    return 0;
}

uintptr_t
hook_names_begin(uintptr_t stubs, uintptr_t count, uintptr_t unused, uintptr_t unused_too,
                 struct hook_slot *slots)
{
    struct hidden h = {stubs, count, slots};
    int saved_errno = errno;
    uint64_t hidden = 0;

    (void)unused, (void)unused_too;
    // Otherwise the message of the first search that fails would need a malloc that searches.
    next_resolve();
    for (uint64_t i = 0; i < count; i++) {
        if (next_symbol((const char *)&slots[i] + slots[i].name_off, 0) == NULL) {
            slots[i].function = (uint64_t)(uintptr_t)&slots[i];
            hidden++;
        }
    }
    // One that succeeds, so that libc keeps no message: glibc before 2.37 would free it twice when
    // a search of the program's fails and its message is the first malloc, at which we search.
    next_symbol("malloc", 0);
    if (hidden > 0)
        dl_iterate_phdr(clear_in_object, &h);
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Sym *symbol = (Elf64_Sym *)(void *)((char *)&slots[i] + slots[i].symbol_off);

        if (slots[i].function != 0 && slots[i].wanted == 0)
            store_release(&symbol->st_value, (Elf64_Addr)0);
        slots[i].function = 0;
    }
    errno = saved_errno;
    return 0;
}
