/* debug_dirs.h: directories of debug files, named by the user. */
#ifndef SYMBOL_DEBUG_DIRS_H
#define SYMBOL_DEBUG_DIRS_H

#include "base/base.h"

struct debug_dirs;

/* The COUNT directories at PATHS, which must stay; those before come first. Nothing is read yet. To
 * be freed by the caller. */
struct debug_dirs *debug_dirs_new(const char *const *paths, size_t count);

/* D may be NULL. */
void debug_dirs_free(struct debug_dirs *d);

/* Next candidate for the debug file with build id ID, from *CURSOR on, which starts as 0; NULL at
 * the end. The caller verifies it. Valid as long as D, which may be NULL. */
const char *debug_dirs_by_id(struct debug_dirs *d, const uint8_t *id, size_t id_bytes,
                             size_t *cursor);

/* The same for files of the name NAME, which is no path, and with ".debug" behind it. */
const char *debug_dirs_by_name(struct debug_dirs *d, const char *name, size_t *cursor);

#endif
