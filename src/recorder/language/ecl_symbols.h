/* ecl_symbols.h: names of local functions in a file that ECL has compiled; see ecl_symbols.c. */
#ifndef LANGUAGE_ECL_SYMBOLS_H
#define LANGUAGE_ECL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* Callbacks. FUNCTION receives each local function: its address VALUE, relative to the file's load
 * address, and its NAME in Lisp. PART receives the address VALUE of each separate part of code, and
 * the address WHOLE of the function that it belongs to. */
typedef void ecl_symbols_function(void *arg, uint64_t value, const char *name);
typedef void ecl_symbols_part(void *arg, uint64_t value, uint64_t whole);

/* Read FILE, which may have any content. Requires that it is aligned to 8. */
void ecl_symbols_read(const void *file, size_t size, ecl_symbols_function *function,
                      ecl_symbols_part *part, void *arg);

#endif
