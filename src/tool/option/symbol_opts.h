/* symbol_opts.h: where names are looked for, the same way in every command that shows or keeps
 * them.
 */
#ifndef OPTION_SYMBOL_OPTS_H
#define OPTION_SYMBOL_OPTS_H

#include "option/opts.h"

struct kept;

/* Zero before parsing. */
struct symbol_choice {
    const char *sysroot;
    struct opt_list debug_dirs;
    struct kept *kept; // No option: set by commands that look at many profiles (symbol/kept.h).
};

/* Rows for a command's table; CHOICE is the struct symbol_choice in its defaults. */
// clang-format off
#define SYMBOL_OPTIONS(choice)                                                                    \
    {OPT_LIST, 0, "debug-dir", &(choice).debug_dirs, "DIR",                                       \
     "Look for debug files in DIR, too: by build id, below DIR/.build-id or in DIR itself. It "   \
     "may be given several times.", NULL},                                                        \
    {OPT_STRING, 0, "sysroot", &(choice).sysroot, "DIR",                                          \
     "Look for the programs, libraries and sources of the profile below DIR first: the root of a " \
     "container, or a copy of another machine's files.", NULL}
// clang-format on

#endif
