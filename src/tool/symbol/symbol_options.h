/* symbol_options.h: places to search for symbols. */
#ifndef SYMBOL_SYMBOL_OPTIONS_H
#define SYMBOL_SYMBOL_OPTIONS_H

#include "base/base.h"

struct debug_dirs;
struct module_cache;

/* State of a query to a debuginfod server. */
enum symbol_server { SERVER_ASKED, SERVER_ANSWERED, SERVER_SILENT };

/* Places to search for the files of a process. */
struct symbol_paths {
    // Start of the recording: a newer file without a build id was changed since then. 0 = do not
    // check.
    uint64_t start_unix_ns;
    const char *sysroot; // See struct profile; NULL = none.
    uint32_t pid;        // Process on this machine, if it may still run; 0 = none.
    struct debug_dirs *debug_dirs; // The user's directories of debug files; NULL = none.
};

struct symbol_options {
    bool no_cache;     // Disables reading and writing of the cache.
    struct debug_dirs *debug_dirs; // See debug_dirs.h; may be NULL.
    struct module_cache *module_cache; // Caches shared by several profiles; NULL = none.
    // Called before and after a server is queried for the debug information of the module PATH.
    // After SERVER_SILENT, no server is queried again. May be NULL.
    void (*server)(void *arg, enum symbol_server what, const char *path);
    void (*progress)(void *arg, size_t done, size_t total); // May be NULL; called repeatedly.
    void *progress_arg; // Passed to both functions.
};

#endif
