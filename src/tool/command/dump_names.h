/* dump_names.h: resolve code addresses through a toolchain's map file or addr2line. */
#ifndef COMMAND_DUMP_NAMES_H
#define COMMAND_DUMP_NAMES_H

#include "profile/profile.h"

/* Set the names of P's locations from the map file PATH. BIAS is the difference between their
 * addresses and those in the program's file. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
int dump_names_by_map(struct profile *p, uint64_t bias, const char *path, struct err *err);

/* Set the names of P's locations as dump_names_by_map does, but by COMMAND, a shell command line.
 * The command gets the arguments "-f -e PROGRAM" and reads addresses on its standard input. It
 * prints two lines for each: a function, and "file:line". */
int dump_names_by_command(struct profile *p, uint64_t bias, const char *command,
                          const char *program, struct err *err);

#endif
