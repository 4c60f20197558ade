/* symbol.h: addresses to functions, files and lines. The only door to elfutils.
 *
 * A location's frames are made once: from the profile itself when it was packed with symbols, else
 * from the cache (by build id and address, under $XDG_CACHE_HOME/heaptap or ~/.cache/heaptap), else
 * from the module's ELF file and its debug information (separate, split, debuginfod when
 * DEBUGINFOD_URLS is set).
 */
#ifndef SYMBOL_SYMBOL_H
#define SYMBOL_SYMBOL_H

#include "profile/profile.h"
#include "symbol/shorten.h"
#include "symbol/symbol_options.h"

/* Give every location of P its frames. No location stays without: if nothing is known it gets one
 * frame with only module set (a reader then shows module+offset). symbol_hints says what was
 * missing. Returns 0; unreadable modules are no failure. */
int symbol_resolve(struct profile *p, const struct symbol_options *options, struct err *err);

/* Sentences for the user on what was missing, e.g. "libfoo.so.1: no debug information; install its
 * -dbg package or set DEBUGINFOD_URLS". Valid as long as P. Empty when P came with symbols. */
size_t symbol_hints(const struct profile *p, const char *const **ret_hints);

#endif
