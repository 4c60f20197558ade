/* ecl_symbols.h: names of local functions in a file that ECL has compiled; see ecl_symbols.c. */
#ifndef LANGUAGE_ECL_SYMBOLS_H
#define LANGUAGE_ECL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* FUNCTION receives each local function, at VALUE relative to the file's load address, with its
 * NAME in Lisp. PART receives each part of code at VALUE that belongs to the function at WHOLE. */
typedef void ecl_symbols_function(void *arg, uint64_t value, const char *name);
typedef void ecl_symbols_part(void *arg, uint64_t value, uint64_t whole);

/* Read FILE, any SIZE bytes, aligned to 8. */
void ecl_symbols_read(const void *file, size_t size, ecl_symbols_function *function,
                      ecl_symbols_part *part, void *arg);

#endif
