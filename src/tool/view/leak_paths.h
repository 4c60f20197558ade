/* leak_paths.h: live blocks by path, for display. */
#ifndef VIEW_LEAK_PATHS_H
#define VIEW_LEAK_PATHS_H

#include "analyse/leaks.h"
#include "analyse/paths.h"
#include "analyse/stack_functions.h"

struct leak_paths {
    const struct leaks *leaks;
    const struct suppressions *suppressions;
    const struct paths *paths;
    struct functions *functions;
    bool call_sites; // Show the places of calls.
};

#endif
