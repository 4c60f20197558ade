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

/* What becomes of a question to a debuginfod server. */
enum symbol_server { SERVER_ASKED, SERVER_ANSWERED, SERVER_SILENT };

struct symbol_options {
    bool no_cache;     // Neither read nor write the cache.
    // May be NULL; called before and after a server is asked for the debug information of the
    // module PATH. After SERVER_SILENT none is asked any more.
    void (*server)(void *arg, enum symbol_server what, const char *path);
    void (*progress)(void *arg, size_t done, size_t total); // May be NULL; called now and then.
    void *progress_arg; // Of both.
};

/* Give every location of P its frames. A location never stays without: if nothing is known it gets
 * one frame with only module set (a reader then shows module+offset). What was missing is told in
 * P's hints. Returns 0; unreadable modules are no failure. */
int symbol_resolve(struct profile *p, const struct symbol_options *options, struct err *err);

/* Sentences for the user on what was missing, e.g. "libfoo.so.1: no debug information; install its
 * -dbg package or set DEBUGINFOD_URLS". Valid as long as P. Empty when P came with symbols. */
size_t symbol_hints(const struct profile *p, const char *const **ret_hints);

/* FUNCTION shortened for people: default template arguments, std::__cxx11 and allocator noise,
 * parameter lists of more than WIDTH characters. From ARENA. */
const char *symbol_shorten(struct arena *arena, const char *function, size_t width);

#endif
