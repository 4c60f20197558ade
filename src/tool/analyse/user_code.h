/* user_code.h: find the frame of user code in a stack. */
#ifndef ANALYSE_USER_CODE_H
#define ANALYSE_USER_CODE_H

#include "analyse/stacks.h"

enum code_kind {
    CODE_RUNTIME, // C and C++ libraries, loader, vDSO.
    CODE_LIBRARY, // Shared library of the system, if the program does not belong to the system.
    CODE_USER,
};

struct user_code {
    const struct profile *p;
    uint8_t *kinds;     // enum code_kind by module.
    bool *interpreters; // By module: it has code of an interpreter (profile_location.runtime).
};

/* Maximum number of frames outwards to search for a name that represents an unsymbolized
 * function. */
enum { USER_CODE_FRAMES = 2 };

/* Return true if PATH is a C or C++ library, the loader, or another module whose internals readers
 * do not need. */
bool user_code_is_runtime(const char *path);

/* Classify each module of P into *OWN. From ARENA. */
void user_code_init(struct user_code *own, const struct profile *p, struct arena *arena);

/* Return the index of the innermost frame of user code in S. Without user code, return the
 * innermost frame of a system library, else 0. Skips start-up code unless S has nothing else.
 * Requires S to have a frame. */
uint32_t user_code_frame(const struct user_code *own, const struct stack *s);

/* Like user_code_frame, but skips wrappers of S that are not folded. Requires that stack_numbers
 * was called for S. */
uint32_t user_code_frame_unfolded(const struct user_code *own, const struct stack *s);

#endif
