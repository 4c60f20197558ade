/* completion.h: completion scripts for shells from the tables of opts.h. */
#ifndef OPTION_COMPLETION_H
#define OPTION_COMPLETION_H

#include "option/opts.h"
#include "util/strbuf.h"

/* Append a completion script for bash or zsh to OUT. */
void completion_bash(const struct command_group *groups, struct strbuf *out);
void completion_zsh(const struct command_group *groups, struct strbuf *out);

#endif
