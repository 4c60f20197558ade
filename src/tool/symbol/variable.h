/* variable.h: the names of variables, by the symbol tables of a file on disk. */
#ifndef SYMBOL_VARIABLE_H
#define SYMBOL_VARIABLE_H

#include "util/arena.h"

/* The variable of the program or library PATH that OFF lies in, which is counted from the address
 * at which the file's first byte is mapped. *RET_OFF is how far into the variable. From ARENA; NULL
 * if the file cannot be read or has no name for it. */
const char *variable_name(const char *path, uint64_t off, struct arena *arena, uint64_t *ret_off);

#endif
