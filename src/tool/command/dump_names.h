/* dump_names.h: names for code addresses from a toolchain's map file or addr2line. */
#ifndef COMMAND_DUMP_NAMES_H
#define COMMAND_DUMP_NAMES_H

#include "profile/profile.h"

/* Name the locations of P, whose addresses are BIAS more than those in the program, by the map
 * PATH. Returns 0 or HEAPTAP_BAD_INPUT with ERR set. */
int dump_names_by_map(struct profile *p, uint64_t bias, const char *path, struct err *err);

/* Like dump_names_by_map, but by COMMAND, a shell command line. It gets the arguments "-f -e
 * PROGRAM" and reads addresses on its standard input. For each it prints two lines: a function, and
 * "file:line". */
int dump_names_by_command(struct profile *p, uint64_t bias, const char *command,
                          const char *program, struct err *err);

#endif
