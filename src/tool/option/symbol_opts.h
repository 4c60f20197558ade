/* symbol_opts.h: options for the places to search for names, for every command that shows or stores
 * them.
 */
#ifndef OPTION_SYMBOL_OPTS_H
#define OPTION_SYMBOL_OPTS_H

#include "option/opts.h"

struct module_cache;

/* Values of the options. Zero before parsing. */
struct symbol_choice {
    const char *sysroot;
    struct opt_list debug_dirs;
    struct module_cache *module_cache; // Not an option: set by commands that open many profiles
                                       // (symbol/module_cache.h).
};

/* Rows for a command's table; CHOICE is the struct symbol_choice in its defaults. */
// clang-format off
#define SYMBOL_OPTIONS(choice)                                                                    \
    {OPT_LIST, 0, "debug-dir", &(choice).debug_dirs, "DIR",                                       \
     "Also look for debug files in DIR: by build id, below DIR/.build-id or in DIR itself. May "   \
     "be repeated.", NULL},                                                        \
    {OPT_STRING, 0, "sysroot", &(choice).sysroot, "DIR",                                          \
     "Look for the programs, libraries and sources of the profile below DIR first: the root of a " \
     "container, or a copy of another machine's files.", NULL}
// clang-format on

#endif
