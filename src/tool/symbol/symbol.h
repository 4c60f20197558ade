/* symbol.h: resolve addresses to functions, files and lines. The only user of elfutils.
 *
 * A location's frames are resolved once. The first of these sources that has them is used: the
 * profile itself, if it was packed with symbols; the cache (by build id and address, under
 * $XDG_CACHE_HOME/heaptap or ~/.cache/heaptap); the module's ELF file and its debug information
 * (separate or split files, and debuginfod if DEBUGINFOD_URLS is set).
 */
#ifndef SYMBOL_SYMBOL_H
#define SYMBOL_SYMBOL_H

#include "profile/profile.h"
#include "symbol/demangle.h"
#include "symbol/symbol_options.h"

/* Resolve the frames of every location of P. A location without symbols gets one frame with only
 * `module` set (shown as module+offset), and the start of the function if there is an unwind entry.
 * A packed profile only gets frames that this machine can add. Modules then have the source of
 * their symbols, which symbol_lack puts into words. A second call has no effect. Returns 0;
 * unreadable modules are not a failure. */
int symbol_resolve(struct profile *p, const struct symbol_options *options, struct err *err);

/* Return the reason why MODULE of a resolved P lacks names or lines, as a predicate: "is stripped".
 * Return NULL if it lacks nothing or the reason is unknown. Static or from ARENA. */
const char *symbol_lack(const struct profile *p, uint32_t module, struct arena *arena);

#endif
