/* symbol.h: resolve addresses to functions, files and lines. The only user of elfutils.
 *
 * A location's frames are made once: from the profile itself as far as it was packed with symbols,
 * else from the cache (by build id and address, under $XDG_CACHE_HOME/heaptap or
 * ~/.cache/heaptap), else from the module's ELF file and its debug information (separate, split,
 * debuginfod when DEBUGINFOD_URLS is set).
 */
#ifndef SYMBOL_SYMBOL_H
#define SYMBOL_SYMBOL_H

#include "profile/profile.h"
#include "symbol/shorten.h"
#include "symbol/symbol_options.h"

/* Give every location of P its frames. A location without symbols gets one frame with only module
 * set (shown as module+offset), and the start of its function if there is an unwind entry. A packed
 * profile gets only the frames that this machine can add. Modules then record their level of
 * detail, which symbol_lack puts into words. A second call has no effect. Returns 0; unreadable
 * modules are no failure. */
int symbol_resolve(struct profile *p, const struct symbol_options *options, struct err *err);

/* Return why MODULE of a resolved P may lack names or lines, as a predicate: "is stripped". NULL if
 * it lacks nothing, or for an unknown reason. Static or from ARENA. */
const char *symbol_lack(const struct profile *p, uint32_t module, struct arena *arena);

#endif
