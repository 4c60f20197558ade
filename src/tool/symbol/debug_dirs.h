/* debug_dirs.h: directories of debug files that the user named. */
#ifndef SYMBOL_DEBUG_DIRS_H
#define SYMBOL_DEBUG_DIRS_H

#include "base/base.h"

struct debug_dirs;

/* Return a search list of the COUNT directories at PATHS, which must stay valid; earlier ones take
 * precedence. The directories are read on first use. The caller must free the list. */
struct debug_dirs *debug_dirs_new(const char *const *paths, size_t count);

/* Free D, which may be NULL. */
void debug_dirs_free(struct debug_dirs *d);

/* Return the next candidate for the debug file with build id ID, or NULL at the end. *CURSOR is 0
 * before the first call. The caller must verify the candidate. The result is valid as long as D. D
 * may be NULL. */
const char *debug_dirs_by_id(struct debug_dirs *d, const uint8_t *id, size_t id_bytes,
                             size_t *cursor);

/* Like debug_dirs_by_id, for files called NAME, which must not be a path, and NAME.debug. */
const char *debug_dirs_by_name(struct debug_dirs *d, const char *name, size_t *cursor);

#endif
