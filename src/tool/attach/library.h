/* library.h: the recorder's library, prepared for another process. */
#ifndef ATTACH_LIBRARY_H
#define ATTACH_LIBRARY_H

#include "attach/target.h"

/* The library as it will lie at `base` in the process. */
struct library {
    uint64_t base;
    unsigned char *bytes; // From the arena of the target.
    uint64_t size_bytes;  // Whole pages.
    const char *path;
};

/* Read the library PATH, without relocations. Its base is 0. Returns 0, or HEAPTAP_BAD_INPUT with
 * ERR set. */
int library_read(const char *path, struct target *t, struct library *ret, struct err *err);

/* Relocate L for its base. Its thread-local memory is TLS_OFF above the thread pointer. Returns 0,
 * or HEAPTAP_BAD_INPUT with ERR set if the process lacks a name that it needs. */
int library_relocate(struct library *l, const struct target *t, uint64_t tls_off,
                     struct err *err);

/* Return the offset of the exported NAME in L; 0 if there is none. */
uint64_t library_offset(const struct library *l, const char *name);

/* Return the size of the library's thread-local memory. */
uint64_t library_tls_bytes(const struct library *l);

/* A part of the library with one protection. */
struct library_part {
    uint64_t off, size_bytes; // Whole pages.
    int protection; // PROT_*
};

/* Store part number INDEX in *RET. Return false if there are no more. */
bool library_part(const struct library *l, size_t index, struct library_part *ret);

#endif
