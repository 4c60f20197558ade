/* variable.h: find the names of variables in the symbol tables of a file on disk. */
#ifndef SYMBOL_VARIABLE_H
#define SYMBOL_VARIABLE_H

#include "profile/profile.h"

/* Return the name of the variable of module M of P that contains OFF, an offset from the mapped
 * address of the file's first byte. Set *RET_OFF to the offset in the variable. From ARENA. Return
 * NULL if there is no matching file (symbol/dwfl.h), or no variable at OFF. M may have only a
 * path. */
const char *variable_name(const struct profile *p, const struct profile_module *m, uint64_t off,
                          struct arena *arena, uint64_t *ret_off);

#endif
