/* elf_core.h: open a core dump as memory. */
#ifndef IMAGE_ELF_CORE_H
#define IMAGE_ELF_CORE_H

#include "image/memory.h"
#include "util/err.h"

/* Open the core dump PATH, of any word size and byte order, compressed or not. A dump that was cut
 * short is opened as far as possible, with missing_bytes set. Returns 0 and an owned *RET
 * (memory_close), or HEAPTAP_BAD_INPUT with ERR set. */
int elf_core_open(const char *path, struct memory *ret, struct err *err);

/* Like elf_core_open, for the SIZE_BYTES at BYTES, called NAME in messages. On success memory_close
 * unmaps BYTES; on failure the caller keeps them. */
int elf_core_parse(const unsigned char *bytes, size_t size_bytes, const char *name,
                   struct memory *ret, struct err *err);

/* Return true if the file PATH begins like a core dump, or like a compressed file, which may
 * contain one. */
bool elf_core_is(const char *path);

/* --- core_file.c: bytes of a core dump, compressed or not. */

/* Map the file PATH for reading, expanded if it is compressed with zstd or gzip. A compressed file
 * that ends early is expanded as far as possible. The caller must munmap the bytes. Returns 0, or
 * HEAPTAP_BAD_INPUT with ERR set. */
int core_file_map(const char *path, const unsigned char **ret_bytes, size_t *ret_size_bytes,
                  struct err *err);

#endif
