/* variable.h: the names of variables, by the symbol tables of a file on disk. */
#ifndef SYMBOL_VARIABLE_H
#define SYMBOL_VARIABLE_H

#include "profile/profile.h"

/* The variable of the module M of P that OFF lies in, which is counted from the address at which
 * the file's first byte is mapped. *RET_OFF is how far into the variable. From ARENA; NULL if there
 * is no right file (symbol/dwfl.h) or it has no name for it. M may have no more than a path. */
const char *variable_name(const struct profile *p, const struct profile_module *m, uint64_t off,
                          struct arena *arena, uint64_t *ret_off);

#endif
