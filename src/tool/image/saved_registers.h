/* saved_registers.h: words in the registers of a thread, each of which may be a pointer.
 *
 * Compilers keep pointers in vector registers as well: gcc -O2 moves a pair of pointers through
 * one. The kernel saves them in the layout of the processor's own instruction, whose other parts
 * are not registers. */
#ifndef IMAGE_SAVED_REGISTERS_H
#define IMAGE_SAVED_REGISTERS_H

#include "image/memory.h"
#include "image/scan.h"

/* Return true if a note of TYPE in a dump of M, SIZE_BYTES long, has vector registers of known
 * layout. */
bool saved_registers_are_vectors(const struct memory *m, uint32_t type, uint64_t size_bytes);

/* Call FN with each word in the registers of T, a thread of M. The address of a word is a number
 * that saved_registers_name accepts. */
void saved_registers_scan(const struct memory *m, const struct memory_thread *t, scan_fn *fn,
                          void *arg);

/* Return the name of the register of M at PLACE, from ARENA or static. */
const char *saved_registers_name(const struct memory *m, uint64_t place, struct arena *arena);

#endif
