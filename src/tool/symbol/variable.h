/* variable.h: the names of variables, by the symbol tables of a file on disk. */
#ifndef SYMBOL_VARIABLE_H
#define SYMBOL_VARIABLE_H

#include "profile/profile.h"

/* Return the name of the variable of module M of P that contains OFF, an offset from the address
 * where the file's first byte is mapped. *RET_OFF is the offset in the variable. From ARENA; NULL
 * if there is no matching file (symbol/dwfl.h) or it has no name there. M may have only a path. */
const char *variable_name(const struct profile *p, const struct profile_module *m, uint64_t off,
                          struct arena *arena, uint64_t *ret_off);

#endif
