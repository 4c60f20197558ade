/* selection.h: decides if this process is recorded, and the path of its profile. Call these
 * functions from the thread that starts recording, with signals blocked. */
#ifndef PLATFORM_SELECTION_H
#define PLATFORM_SELECTION_H

#include "base/base.h"

/* Return true if this process shall be recorded. Call once, when recording starts; requires
 * `state`. */
bool selection_here(void);

/* Return true if forked children of a recorded process shall be recorded. Call after selection_here
 * in that process. Async-signal-safe. */
bool selection_has_children(void);

/* Return true if NAME matches one of PATTERNS, which are separated by commas. "" matches none.
 * Async-signal-safe. */
bool selection_is_named(const char *patterns, const char *name);

/* Return true if the program of ARGUMENTS is the interpreter in the #! line of the file
 * ARGUMENTS[INDEX], and runs it as a script: the line gives the arguments in front of INDEX.
 * Async-signal-safe. */
bool selection_is_script(char *const *arguments, uint32_t index);

/* Return the pattern of the profile's path, NULL if none was given; and the id of the run. Call
 * after selection_here. */
const char *selection_output(void);
uint64_t selection_session(void);

/* Return the number of innermost frames to record per stack. Call after selection_here. */
uint32_t selection_depth(void);

/* Create the directory of the profile PATH, if `heaptap run` left that to the recorder. Return 0 if
 * the directory then exists, so that the caller should try again to create the profile; -ENOENT if
 * it is not the recorder's to create; else the error of the attempt, which is the cause to
 * report. */
int selection_make_directory(char *path);

/* --- name_set.c: a bounded set of texts whose numbers stay valid in forked children.
 *
 * The program stores numbers of heap names and label sets, in handles and in the memory of threads.
 * A child made by fork continues to use these numbers. So the texts are process constants instead
 * of state, and no text is ever removed. Lock-free, async-signal-safe, allocates no memory. */

enum { NAME_SET_NONE = UINT32_MAX, NAME_SET_LENGTH_MAX = 1024 };

/* A set of texts. All zero = empty. */
struct name_set {
    uint32_t *places; // Atomic: start of a text in the pool, plus 1; 0 = free.
    uint32_t place_count;
    uint32_t pool_bytes;
    unsigned char *pool; // The texts, each preceded by two bytes with its length.
    uint32_t pool_used;  // Atomic.
};

/* Return the number of TEXT, less than place_count, and add TEXT if it is new. Return NAME_SET_NONE
 * if there is no room, or if TEXT is too long. */
uint32_t name_set_intern(struct name_set *t, const void *text, size_t size_bytes);

/* Return the text with NUMBER, and its size. Return an empty text if name_set_intern did not return
 * that number. */
const void *name_set_get(const struct name_set *t, uint32_t number, size_t *ret_size_bytes);

#endif
