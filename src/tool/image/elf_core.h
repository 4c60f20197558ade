/* elf_core.h: a core dump as memory. */
#ifndef IMAGE_ELF_CORE_H
#define IMAGE_ELF_CORE_H

#include "image/memory.h"

/* Open the core dump PATH, of either word size and byte order, compressed or not. Returns 0 and an
 * owned *RET (memory_close), or HEAPTAP_BAD_INPUT with ERR set. A dump that is cut short opens as
 * far as it goes, with missing_bytes set. */
int elf_core_open(const char *path, struct memory *ret, struct err *err);

/* Like elf_core_open, for the SIZE_BYTES at BYTES, called NAME in messages. On success memory_close
 * unmaps BYTES; on failure they stay the caller's. */
int elf_core_parse(const unsigned char *bytes, size_t size_bytes, const char *name,
                   struct memory *ret, struct err *err);

/* Return true if the file PATH begins like a core dump, or like a compressed file, which may hold
 * one. */
bool elf_core_is(const char *path);

#endif
