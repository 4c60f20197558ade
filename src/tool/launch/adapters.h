/* adapters.h: which adapters for languages go into a program that is run. */
#ifndef LAUNCH_ADAPTERS_H
#define LAUNCH_ADAPTERS_H

#include "util/arena.h"
#include "util/err.h"

struct adapter_choice {
    const char *const *names; // Those that were asked for by name, COUNT of them.
    size_t count;
    bool none; // Preload none, not even the one that the program needs.
};

/* The paths of the adapters that PROGRAM gets, each with ':' in front, from ARENA; "" if it gets
 * none. They lie beside LIBRARY, the recorder. *RET_HINT is a line for the user, or NULL. 0, or
 * HEAPTAP_USAGE with ERR set: there is no adapter of a name that was asked for. */
int adapters_choose(const struct adapter_choice *choice, const char *program, const char *library,
                    struct arena *arena, const char **ret_paths, const char **ret_hint,
                    struct err *err);

#endif
