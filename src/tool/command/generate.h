/* generate.h: man pages and shell completion from the tables of the commands. `heaptap generate` is
 * part of the build; help does not list it. */
#ifndef COMMAND_GENERATE_H
#define COMMAND_GENERATE_H

#include "option/opts.h"

/* Run `heaptap generate man DIRECTORY` or `heaptap generate completion bash|zsh`. Returns the exit
 * code. */
int generate(const struct command_group *groups, int count, char **arguments);

#endif
