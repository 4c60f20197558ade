/* elf_core.h: a core dump as memory. */
#ifndef IMAGE_ELF_CORE_H
#define IMAGE_ELF_CORE_H

#include "image/memory.h"

/* Open the core dump PATH, of either word size and byte order, compressed or not. Returns 0 and an
 * owned *RET (memory_close), or HEAPTAP_BAD_INPUT with ERR set. One that is cut short opens as far
 * as it goes; missing_bytes tells. */
int elf_core_open(const char *path, struct memory *ret, struct err *err);

/* The same of the SIZE_BYTES at BYTES, which stay the caller's, called NAME in messages. */
int elf_core_parse(const unsigned char *bytes, size_t size_bytes, const char *name,
                   struct memory *ret, struct err *err);

/* Whether the file PATH is, as far as its first bytes tell, a core dump; it may be compressed. */
bool elf_core_is(const char *path);

#endif
