/* readable.c: finds the extent of an object's readable memory.
 *
 * An object's range may have holes between its segments that fault on access, and corrupt unwind
 * tables may point into them. The program headers, if known, list the segments; otherwise the whole
 * range counts as readable.
 *
 * Signal-safe. */
#include "unwind/object.h"

#include <elf.h>

uint64_t
unwind_readable_end(const struct unwind_object *object, uint64_t address)
{
    const Elf64_Phdr *s = object->segments;

    if (address < object->start || address >= object->end)
        return 0;
    if (s == NULL)
        return object->end;
    for (uint32_t i = 0; i < object->segment_count; i++) {
        uint64_t start = object->bias + s[i].p_vaddr;
        uint64_t end = start + s[i].p_memsz;

        if (s[i].p_type == PT_LOAD && (s[i].p_flags & PF_R) && address >= start && address < end)
            return end < object->end ? end : object->end;
    }
    return 0;
}
