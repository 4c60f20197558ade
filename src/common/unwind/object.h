/* object.h: finds the loaded object that contains an address. object_dynamic.c asks the dynamic
 * linker; object_static.c knows the only object of a static executable.
 */
#ifndef UNWIND_OBJECT_H
#define UNWIND_OBJECT_H

#include "base/base.h"

/* A loaded object, as the dynamic linker has it mapped. */
struct unwind_object {
    uint64_t start, end;             // [start, end)
    const uint8_t *eh_frame_hdr;     // NULL if it has none.
    const void *link_map;            // struct link_map *; identifies the loading.
    const void *segments;            // Its program headers, Elf64_Phdr; NULL = not known.
    uint32_t segment_count;
    uint64_t bias;                   // Added to the segments' addresses.
};

struct dl_find_object;

/* Facts about the process, set before the first lookup: addresses of its program headers and of the
 * vdso, from the kernel; 0 = unknown; and libc's _dl_find_object, NULL = whatever the name binds
 * to. Needed in a program whose segments the dynamic linker lists separately, in one that defines
 * such a function, and in a static one. */
struct unwind_process {
    uint64_t headers, header_count, vdso;
    int (*find_object)(void *address, struct dl_find_object *ret_object);
};
void unwind_begin(const struct unwind_process *process);

/* The object that covers ADDRESS. False if none. Lock-free (_dl_find_object, glibc 2.35). Reads the
 * object's headers, so it must not be unloaded meanwhile: its code is on the caller's stack, or the
 * program was started with it. */
bool unwind_find_object(uint64_t address, struct unwind_object *ret_object);

/* The link map of the object that covers ADDRESS, and its start; NULL if none. Reads neither the
 * object nor the map, so another thread may be unloading the object. */
const void *unwind_identity(uint64_t address, uint64_t *ret_start);

#endif
