/* object.h: finds the loaded object that contains an address. object_dynamic.c asks the dynamic
 * linker; object_static.c serves static executables, which are a single object. */
#ifndef UNWIND_OBJECT_H
#define UNWIND_OBJECT_H

#include "base/base.h"

struct dl_find_object;

/* A loaded object with the bounds of its mapping. */
struct unwind_object {
    uint64_t start, end;             // [start, end)
    const uint8_t *eh_frame_hdr;     // NULL if the object has none.
    const void *link_map;            // struct link_map *; distinguishes two loadings of one file.
    const void *segments;            // Program headers, Elf64_Phdr; NULL = not known.
    uint32_t segment_count;
    uint64_t bias;                   // Added to the segments' addresses.
};

/* Facts about the process: the addresses of its program headers and of the vdso, from the kernel (0
 * = unknown), and libc's _dl_find_object (NULL: use the definition that the name binds to). Pass
 * them to unwind_begin before the first lookup. Three kinds of program need them: a program whose
 * segments the dynamic linker lists separately, a program that defines a _dl_find_object itself,
 * and a static program. */
struct unwind_process {
    uint64_t headers, header_count, vdso;
    int (*find_object)(void *address, struct dl_find_object *ret_object);
};
void unwind_begin(const struct unwind_process *process);

/* Find objects by FIND_OBJECT, which has the interface of _dl_find_object. Call before
 * unwind_begin, which then keeps it. */
void unwind_use_finder(int (*find_object)(void *address, struct dl_find_object *ret_object));

/* Find the object that covers ADDRESS. Return false if there is none. Lock-free (_dl_find_object,
 * glibc 2.35). This reads the object's headers, so no thread may unload the object meanwhile:
 * either its code is on the caller's stack, or the program was started with it. */
bool unwind_find_object(uint64_t address, struct unwind_object *ret_object);

/* Return the link map of the object that covers ADDRESS, and store the object's start in
 * *RET_START; NULL if there is none. This reads neither the object nor the map, so another thread
 * may unload the object meanwhile. */
const void *unwind_identity(uint64_t address, uint64_t *ret_start);

/* --- readable.c: readable parts of a loaded object. */

/* Return the end of the readable memory around ADDRESS in OBJECT; 0 if ADDRESS is not readable.
 * This is the end of the segment, or of the object if the segments are unknown. */
uint64_t unwind_readable_end(const struct unwind_object *object, uint64_t address);

#endif
