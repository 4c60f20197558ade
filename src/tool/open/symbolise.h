/* symbolise.h: names for a profile's addresses, and messages meanwhile. */
#ifndef OPEN_SYMBOLISE_H
#define OPEN_SYMBOLISE_H

#include "option/symbol_opts.h"
#include "profile/profile.h"

/* Symbolise P with the options CHOICE (or NULL). Show progress if stderr is a terminal, and report
 * unreadable files there. Returns 0, or the exit code after printing an error. */
int symbolise(struct profile *p, const struct symbol_choice *choice);

/* Like symbolise, without messages about unreadable files. */
int symbolise_quietly(struct profile *p, const struct symbol_choice *choice);

/* Find the types of a symbolised P. */
void symbolise_types(struct profile *p, const struct symbol_choice *choice);

/* Find the structures called NAMES (type/structures.h), once. */
void symbolise_structures(struct profile *p, const struct symbol_choice *choice,
                          const uint32_t *names, size_t count);

/* Return true if PATH, the value of --OPTION, is a directory; print an error otherwise. */
bool symbolise_is_directory(const char *option, const char *path);

#endif
