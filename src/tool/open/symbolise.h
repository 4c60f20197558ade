/* symbolise.h: symbolise profiles, with messages. */
#ifndef OPEN_SYMBOLISE_H
#define OPEN_SYMBOLISE_H

#include "option/symbol_opts.h"
#include "profile/profile.h"

/* Symbolise P with the options CHOICE (or NULL). On a terminal, show progress on stderr. Report
 * unreadable files there. Returns 0, or the exit code after printing an error. */
int symbolise(struct profile *p, const struct symbol_choice *choice);

/* Like symbolise, without messages about unreadable files. */
int symbolise_quietly(struct profile *p, const struct symbol_choice *choice);

/* Find the types of a symbolised P. */
void symbolise_types(struct profile *p, const struct symbol_choice *choice);

/* Find the structures called NAMES (type/structures.h). Call once. */
void symbolise_structures(struct profile *p, const struct symbol_choice *choice,
                          const uint32_t *names, size_t count);

/* Return true if PATH, the value of --OPTION, is a directory; otherwise print an error. */
bool symbolise_is_directory(const char *option, const char *path);

#endif
