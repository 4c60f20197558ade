/* package.h: find the package that contains a file. */
#ifndef SYMBOL_PACKAGE_H
#define SYMBOL_PACKAGE_H

#include "util/arena.h"

/* Directory of dpkg's lists. */
#define PACKAGE_LISTS "/var/lib/dpkg/info"

/* Set RET_NAMES[i] to the package of the file PATHS[i], for COUNT files, according to the lists in
 * the directory LISTS. Names are from ARENA. Entries must be NULL before the call, and stay NULL
 * for files without a package or if there is no dpkg. Takes about 20 ms with 3,000 packages. If
 * KEEP is true, results are cached beside the symbol cache until a package changes. */
void package_find(const char *lists, bool keep, const char *const *paths, size_t count,
                  const char **ret_names, struct arena *arena);

#endif
