/* generate.h: man pages and shell completion from the tables. Part of the build, not of the user's
 * command line: `heaptap generate` is shown in no help.
 */
#ifndef CLI_GENERATE_H
#define CLI_GENERATE_H

#include "option/opts.h"
#include "util/strbuf.h"

/* heaptap generate man DIRECTORY | heaptap generate completion bash|zsh. Returns the exit code. */
int generate(const struct command_group *groups, int count, char **arguments);

/* The man page of one command, and the one of heaptap itself, in man(7) macros. */
void generate_man_command(const struct command_group *groups, const struct command *c,
                          struct strbuf *out);
void generate_man_overview(const struct command_group *groups, struct strbuf *out);

void generate_bash(const struct command_group *groups, struct strbuf *out);
void generate_zsh(const struct command_group *groups, struct strbuf *out);

#endif
