/* man_page.h: the tables of opts.h as man pages. */
#ifndef OPTION_MAN_PAGE_H
#define OPTION_MAN_PAGE_H

#include "option/opts.h"
#include "util/strbuf.h"

/* Append the man page of the command C, or the page of heaptap, in man(7) macros. */
void man_page_command(const struct command_group *groups, const struct command *c,
                          struct strbuf *out);
void man_page_overview(const struct command_group *groups, struct strbuf *out);

#endif
