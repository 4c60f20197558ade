/* package.h: the package that a file came with. */
#ifndef SYMBOL_PACKAGE_H
#define SYMBOL_PACKAGE_H

#include "util/arena.h"

/* Where dpkg keeps its lists. */
#define PACKAGE_LISTS "/var/lib/dpkg/info"

/* For each of the COUNT files PATHS, set RET_NAMES[i] to the package that lists it in the directory
 * LISTS. Names are from ARENA. Entries must be NULL, and stay NULL for files without a package or
 * if there is no dpkg. Takes some 20 ms with 3,000 packages. KEEP caches the answers beside the
 * symbol cache until a package changes. */
void package_find(const char *lists, bool keep, const char *const *paths, size_t count,
                  const char **ret_names, struct arena *arena);

#endif
