/* dwfl.h: one module's ELF file and its debug information, in the same or a separate file. */
#ifndef SYMBOL_DWFL_H
#define SYMBOL_DWFL_H

#include "profile/profile.h"
#include "symbol/symbol_frame.h"
#include "symbol/symbol_options.h"

enum object_state {
    OBJECT_OPEN = 0,
    OBJECT_MISSING,    // There is no file of that name.
    OBJECT_CHANGED,    // The file has another build id than recorded.
    OBJECT_UNREADABLE, // The file cannot be opened, is not ELF, or is not regular.
};

/* Reason why object_open returned NULL. */
struct object_failure {
    enum object_state state;
    const char *reason;                     // OBJECT_UNREADABLE: reason, a static string.
    uint8_t build_id[PROFILE_BUILD_ID_MAX]; // OBJECT_CHANGED: build id of the file.
    uint32_t build_id_bytes;
};

struct object;
struct debuginfo;
struct Elf;         // Defined by libelf.
struct Dwfl;        // Defined by libdwfl.
struct Dwfl_Module; // Defined by libdwfl.

/* Set a function that is called with ARG before and after each query to a debuginfod server; NULL =
 * none. */
void object_report_server(void (*report_collection)(void *arg, enum symbol_server what,
                                                    const char *path),
                          void *arg);

/* Return the places to search for files of P's process. Valid as long as P and OPTIONS. */
struct symbol_paths object_paths(const struct profile *p, const struct symbol_options *options);

/* Open the file of module M. A file with another build id than the recorded one is never used. The
 * search has this order: the path below the prefix of PATHS, the user's directories, the path on
 * this system, the process's own root, the build-id directories. The caller closes the result.
 * Return NULL with *RET_FAILURE set if there is no matching file. */
struct object *object_open(const struct profile_module *m, const struct symbol_paths *paths,
                           struct object_failure *ret_failure);

/* Return true if results from O may be cached for its module: O is at the recorded path, and only
 * root or we can have written it. Requires object_detail. */
bool object_may_be_cached(const struct object *o);

/* Return the level of detail of O. The first call searches for debug information, which may take
 * long. */
enum symbol_detail object_detail(struct object *o);

/* Store in FRAMES the frames of the instruction at ADDRESS (an address in the ELF file), innermost
 * first. Return their number, at least 1; a frame without names if nothing is known. Strings live
 * as long as O. */
size_t object_frames(struct object *o, uint64_t address,
                     struct symbol_frame frames[SYMBOL_FRAMES_MAX]);

/* Return the debug information of O, or NULL. Set *RET_BIAS to the address in the file minus the
 * address in the debug information. */
struct debuginfo *object_debuginfo(struct object *o, uint64_t *ret_bias);

/* Return the file itself, without separate debug files; NULL if it cannot be read. */
struct Elf *object_elf(struct object *o);

/* Return libdwfl's module for O. Addresses of its symbols are addresses in the file. Valid as long
 * as O. */
struct Dwfl_Module *object_module(struct object *o);

/* Report O's file to DWFL as a module that was loaded with the difference BIAS between its
 * addresses in the process and in the file. */
void object_report(const struct object *o, struct Dwfl *dwfl, uint64_t bias);

/* Close O, which may be NULL. Invalidates all results from O. */
void object_close(struct object *o);

/* Return the start of the function that contains ADDRESS, from its unwind entry; 0 if it has none.
 * Both are addresses in the ELF file. */
uint64_t object_function_start(struct object *o, uint64_t address);

/* Return the level of detail that object_open would find for M, with less work: only headers are
 * read, and no server is queried. Return SYMBOLS_UNKNOWN with *RET_FAILURE set if there is no
 * matching file. */
enum profile_symbols object_probe(const struct profile_module *m, const struct symbol_paths *paths,
                                  struct object_failure *ret_failure);

/* Return true if debug information for M exists in a usual place. As cheap as object_probe. */
bool object_debug_exists(const struct profile_module *m, const struct symbol_paths *paths);

#endif
