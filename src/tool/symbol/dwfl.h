/* dwfl.h: one module's ELF file and its debug information, separate or not. */
#ifndef SYMBOL_DWFL_H
#define SYMBOL_DWFL_H

#include "profile/profile.h"
#include "symbol/symbol_frame.h"
#include "symbol/symbol_options.h"

enum object_state {
    OBJECT_OPEN = 0,
    OBJECT_MISSING,    // No file of that name.
    OBJECT_CHANGED,    // A file, but with another build id than recorded.
    OBJECT_UNREADABLE, // A file, but no permission, no ELF, not regular.
};

/* Why object_open returned NULL. */
struct object_failure {
    enum object_state state;
    const char *reason;                     // Static; why it is UNREADABLE.
    uint8_t build_id[PROFILE_BUILD_ID_MAX]; // Build id of the file that CHANGED.
    uint32_t build_id_bytes;
};

struct object;
struct debuginfo;
struct Elf; // From libelf.

/* Call TELL with ARG before and after each query to a debuginfod server from now on. NULL disables
 * that. */
void object_report_server(void (*tell)(void *arg, enum symbol_server what, const char *path),
                          void *arg);

/* Return the places to search for files of P's process. Valid as long as P and OPTIONS. */
struct symbol_paths object_paths(const struct profile *p, const struct symbol_options *options);

/* Open the file of module M. Never uses a file with another build id than the recorded one.
 * Searches its path below the prefix of PATHS, then the user's directories, its path here, the
 * process's own root, and the build-id directories. The caller closes the result. Returns NULL with
 * *RET_FAILURE set if there is no matching file. */
struct object *object_open(const struct profile_module *m, const struct symbol_paths *paths,
                           struct object_failure *ret_failure);

/* Return true if results from O may be cached for its module: O is at the recorded path, and only
 * root or we can have written it. Requires object_detail. */
bool object_may_be_cached(const struct object *o);

/* Return the level of detail of O. The first call searches for debug information, which may read
 * much. */
enum symbol_detail object_detail(struct object *o);

/* Fill FRAMES for the instruction at ADDRESS (an address in the ELF file), innermost first. Returns
 * their number, at least 1 (without names if nothing is known). Strings live as long as O. */
size_t object_frames(struct object *o, uint64_t address,
                     struct symbol_frame frames[SYMBOL_FRAMES_MAX]);

/* Return the debug information of O, or NULL; *RET_BIAS is the address in the file minus the
 * address in the debug information. */
struct debuginfo *object_debuginfo(struct object *o, uint64_t *ret_bias);

/* Return the file itself, without separate debug files; NULL if it cannot be read. */
struct Elf *object_elf(struct object *o);

/* Close O, which may be NULL. Invalidates all results from O. */
void object_close(struct object *o);

/* Return the first address of the function that contains ADDRESS, by its unwind entry; 0 if it has
 * none. Both are addresses in the ELF file. */
uint64_t object_function_start(struct object *o, uint64_t address);

/* Return the level of detail that object_open would find for M. Cheap: reads only headers and
 * queries no server. Returns SYMBOLS_UNKNOWN with *RET_FAILURE set if there is no matching file. */
enum profile_symbols object_probe(const struct profile_module *m, const struct symbol_paths *paths,
                                  struct object_failure *ret_failure);

/* Return true if debug information for M has appeared in a usual place. Equally cheap. */
bool object_debug_exists(const struct profile_module *m, const struct symbol_paths *paths);

#endif
