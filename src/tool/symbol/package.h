/* package.h: the package that a file came with. */
#ifndef SYMBOL_PACKAGE_H
#define SYMBOL_PACKAGE_H

#include "util/arena.h"

/* Where dpkg keeps its lists. */
#define PACKAGE_LISTS "/var/lib/dpkg/info"

/* Set RET_NAMES[i], which are NULL, to the name (from ARENA) of the package that lists the file
 * PATHS[i], COUNT of them, by the lists in the directory LISTS. What no package has stays NULL; so
 * do all where there is no dpkg. Takes some 20 ms where 3,000 packages are installed. With KEEP
 * answers are kept beside the symbol cache until a package changes. */
void package_find(const char *lists, bool keep, const char *const *paths, size_t count,
                  const char **ret_names, struct arena *arena);

#endif
