/* symbol.h: addresses to functions, files and lines. The only door to elfutils.
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

/* Give every location of P its frames. No location stays without: if nothing is known it gets one
 * frame with only module set (a reader then shows module+offset), and the beginning of its function
 * if there is an unwind entry. A packed profile gets what it lacks, from what is here now. The
 * modules then say what they had to offer, and symbol_lack says it in words. A second call does
 * nothing. Returns 0; unreadable modules are no failure. */
int symbol_resolve(struct profile *p, const struct symbol_options *options, struct err *err);

/* Why MODULE of a resolved P may lack names or lines, as what follows its name in a sentence: "is
 * stripped". NULL if it lacks nothing, or nobody knows why. Static or from ARENA. */
const char *symbol_lack(const struct profile *p, uint32_t module, struct arena *arena);

#endif
