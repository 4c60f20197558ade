/* object_dynamic.c: find the loaded object that covers an address.
 *
 * glibc's _dl_find_object reads a sorted array of all loaded objects without a lock. It is safe in
 * a signal handler and while another thread holds the loader's lock. The older dl_iterate_phdr
 * takes this lock. The loader calls malloc, so inside malloc that can deadlock.
 *
 * Invariant: [start, end) is the address range that the loader reserved for the object;
 * eh_frame_hdr, if any, lies inside. The range may have unreadable holes between segments, and the
 * unwind tables of a damaged object may lead there. So the program headers, nearly always in the
 * object's first page, decide which parts are readable. Without them the whole range counts as
 * readable.
 *
 * The program itself is special, because the kernel maps it, sometimes with holes between its
 * segments (large page alignment, or read-only data that ends just before a page). glibc then lists
 * each segment as a separate range, and the tables and the code are in different ranges. In this
 * case the whole range is computed from the program headers. The loader reserves every other object
 * in one piece.
 *
 * Does not cover code without an object: JIT code, the stack, trampolines.
 *
 * Signal-safe. */
#include "unwind/object.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

enum { PAGE_BYTES = 4096, SEGMENTS_MAX = 64 };

static struct unwind_process process = {.find_object = _dl_find_object}; // Constant after
                                                                         // unwind_begin.
static bool has_own_finder;

void
unwind_begin(const struct unwind_process *p)
{
    process.headers = p->headers;
    process.header_count = p->header_count;
    if (p->find_object != NULL && !has_own_finder)
        process.find_object = p->find_object;
}

void
unwind_use_finder(int (*find_object)(void *, struct dl_find_object *))
{
    process.find_object = find_object;
    has_own_finder = true;
}

static void
find_segments(struct unwind_object *o)
{
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)(uintptr_t)o->start;

    if (o->end - o->start < PAGE_BYTES || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
        h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum > SEGMENTS_MAX ||
        h->e_phoff % _Alignof(Elf64_Phdr) != 0 ||
        h->e_phoff > PAGE_BYTES - h->e_phnum * sizeof(Elf64_Phdr))
        return;
    o->segments = (const void *)(uintptr_t)(o->start + h->e_phoff);
    o->segment_count = h->e_phnum;
    o->bias = ((const struct link_map *)o->link_map)->l_addr;
}

/* Extend the range of OBJECT, which is the program, to all segments of the program. */
static void
cover_program(struct unwind_object *object, const struct link_map *map)
{
    struct dl_find_object found;

    // If the loader was started as a command, the kernel's headers are the loader's.
    if (process.find_object((void *)(uintptr_t)process.headers, &found) != 0 ||
        found.dlfo_link_map != map)
        return;
    for (uint64_t i = 0; i < process.header_count; i++) {
        const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(uintptr_t)process.headers + i;
        uint64_t low = round_down(segment->p_vaddr, 4096) + map->l_addr;
        uint64_t high = segment->p_vaddr + segment->p_memsz + map->l_addr;

        if (segment->p_type != PT_LOAD)
            continue;
        if (low < object->start)
            object->start = low;
        if (high > object->end)
            object->end = high;
    }
}

const void *
unwind_identity(uint64_t address, uint64_t *ret_start)
{
    struct dl_find_object found;

    if (process.find_object((void *)(uintptr_t)address, &found) != 0)
        return NULL;
    *ret_start = (uint64_t)(uintptr_t)found.dlfo_map_start;
    return found.dlfo_link_map;
}

bool
unwind_find_object(uint64_t address, struct unwind_object *ret_object)
{
    struct dl_find_object found;

    if (process.find_object((void *)(uintptr_t)address, &found) != 0)
        return false;
    *ret_object = (struct unwind_object){
        .start = (uint64_t)(uintptr_t)found.dlfo_map_start,
        .end = (uint64_t)(uintptr_t)found.dlfo_map_end,
        .eh_frame_hdr = found.dlfo_eh_frame,
        .link_map = found.dlfo_link_map,
    };
    if (found.dlfo_link_map->l_name && *found.dlfo_link_map->l_name == '\0')
        cover_program(ret_object, found.dlfo_link_map);
    find_segments(ret_object);
    return true;
}
