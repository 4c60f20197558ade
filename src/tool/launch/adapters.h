/* adapters.h: choose the language adapters to preload into a program. */
#ifndef LAUNCH_ADAPTERS_H
#define LAUNCH_ADAPTERS_H

#include "util/arena.h"
#include "util/err.h"

struct adapter_choice {
    const char *const *names; // The COUNT adapters requested by name.
    size_t count;
    bool none; // Preload no adapter, even if the program needs one.
};

/* Choose the adapters for PROGRAM. They are beside LIBRARY, the recorder. *RET_PATHS is the
 * concatenation of their paths, each with ':' in front, from ARENA; "" for none. *RET_HINT is a
 * line for the user, or NULL. Returns 0, or HEAPTAP_USAGE with ERR set if a requested adapter does
 * not exist. */
int adapters_choose(const struct adapter_choice *choice, const char *program, const char *library,
                    struct arena *arena, const char **ret_paths, const char **ret_hint,
                    struct err *err);

#endif
