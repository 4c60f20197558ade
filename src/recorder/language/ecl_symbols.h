/* ecl_symbols.h: names of local functions in a file that ECL has compiled; see ecl_symbols.c. */
#ifndef LANGUAGE_ECL_SYMBOLS_H
#define LANGUAGE_ECL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* FUNCTION is told of a local function at VALUE, from where the file is loaded, with its NAME in
 * Lisp; PART of code at VALUE that belongs to the function at WHOLE. */
typedef void ecl_symbols_function(void *arg, uint64_t value, const char *name);
typedef void ecl_symbols_part(void *arg, uint64_t value, uint64_t whole);

/* Read FILE, any SIZE bytes, aligned to 8. */
void ecl_symbols_read(const void *file, size_t size, ecl_symbols_function *function,
                      ecl_symbols_part *part, void *arg);

#endif
