/* function_start.h: find the start of functions without a name. Includes elfutils' headers: only
 * for dwfl.c and function_start.c.
 */
#ifndef SYMBOL_FUNCTION_START_H
#define SYMBOL_FUNCTION_START_H

#include <libelf.h>

#include "unwind/object.h"

struct function_starts {
    struct unwind_object object; // The unwind tables, in libelf's mapping.
    uint64_t bias;               // Address in that mapping minus address in the file.
};

/* Find the unwind tables of ELF, which must stay open as long as *RET is used. Without tables,
 * lookups in *RET find nothing. */
void function_starts_open(Elf *elf, struct function_starts *ret);

/* Return the start of the function that contains ADDRESS; 0 if no unwind entry covers it. Both are
 * addresses in the file. */
uint64_t function_start(const struct function_starts *s, uint64_t address);

#endif
