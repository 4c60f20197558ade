/* dwfl.h: one module's ELF file and its debug information, wherever that lies. */
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

/* Why object_open gave NULL. */
struct object_failure {
    enum object_state state;
    const char *reason;                     // Static; why it is UNREADABLE.
    uint8_t build_id[PROFILE_BUILD_ID_MAX]; // Build id of the file that CHANGED.
    uint32_t build_id_bytes;
};

struct object;
struct debuginfo;
struct Elf; // From libelf.

/* From now on, call TELL with ARG before and after each question to a debuginfod server. With NULL
 * nobody is called. */
void object_tell_of_server(void (*tell)(void *arg, enum symbol_server what, const char *path),
                           void *arg);

/* Where the files of P's process are. Valid as long as P and OPTIONS. */
struct symbol_paths object_paths(const struct profile *p, const struct symbol_options *options);

/* The file of module M. A file whose build id is not the recorded one is never used; where its path
 * below the prefix of PATHS has no right file, the user's directories, its path here, the process's
 * own root and the build-id directories are looked at. To be closed by the caller; NULL with
 * *RET_FAILURE set if there is no right file. */
struct object *object_open(const struct profile_module *m, const struct symbol_paths *paths,
                           struct object_failure *ret_failure);

/* Whether what O gives may be remembered for the module it was opened for: it comes from the
 * recorded path, and nobody but root or us can have written it. Ask after object_detail. */
bool object_may_be_cached(const struct object *o);

/* Level of detail of O. The first call searches for debug information, which may read much. */
enum symbol_detail object_detail(struct object *o);

/* Fill FRAMES for the instruction at ADDRESS (in the ELF file's terms), innermost first. Gives
 * their number, at least 1 (without names if nothing is known). Strings live as long as O. */
size_t object_frames(struct object *o, uint64_t address,
                     struct symbol_frame frames[SYMBOL_FRAMES_MAX]);

/* The debug information of O, or NULL; *RET_BIAS is the file's address minus the one in there. */
struct debuginfo *object_debuginfo(struct object *o, uint64_t *ret_bias);

/* The file itself, not what separate debug files add to it; NULL if it cannot be read. */
struct Elf *object_elf(struct object *o);

/* Ends all that O has given out. O may be NULL. */
void object_close(struct object *o);

/* The first address of the function that has ADDRESS, by its unwind entry, both in the ELF file's
 * terms; 0 if it has none. */
uint64_t object_function_start(struct object *o, uint64_t address);

/* Would object_open find M's file, and with which detail? Cheap: reads headers only and asks no
 * server. SYMBOLS_UNKNOWN with *RET_FAILURE set if there is no right file. */
enum profile_symbols object_look(const struct profile_module *m, const struct symbol_paths *paths,
                                 struct object_failure *ret_failure);

/* Has debug information for M appeared in a usual place? Equally cheap. */
bool object_debug_exists(const struct profile_module *m, const struct symbol_paths *paths);

#endif
