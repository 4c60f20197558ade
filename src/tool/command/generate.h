/* generate.h: man pages and shell completion from the tables. Part of the build, not of the user's
 * command line: `heaptap generate` is shown in no help.
 */
#ifndef COMMAND_GENERATE_H
#define COMMAND_GENERATE_H

#include "option/opts.h"

/* heaptap generate man DIRECTORY | heaptap generate completion bash|zsh. Returns the exit code. */
int generate(const struct command_group *groups, int count, char **arguments);

#endif
