/* user_code.h: which frame of a stack is user code. */
#ifndef ANALYSE_USER_CODE_H
#define ANALYSE_USER_CODE_H

#include "analyse/stacks.h"

enum code_kind {
    CODE_RUNTIME, // The C and C++ libraries, the loader, the kernel's page.
    CODE_LIBRARY, // A shared library of the system, under a program that is not of the system.
    CODE_USER,
};

struct user_code {
    const struct profile *p;
    uint8_t *kinds; // enum code_kind by module.
};

/* A name at most this many frames further out represents a unsymbolized function. */
enum { USER_CODE_FRAMES = 2 };

/* Is PATH a C or C++ library, the loader, or similar, whose internals readers do not need? */
bool user_code_is_runtime(const char *path);

/* Classify each module of P. From ARENA. */
void user_code_init(struct user_code *own, const struct profile *p, struct arena *arena);

/* Return the index in S of the innermost frame of user code; the innermost of any library
 * if there is none, else 0. Skips start-up code unless S has nothing else. Requires S to have a
 * frame. */
uint32_t user_code_frame(const struct user_code *own, const struct stack *s);

/* Like user_code_frame, for S with its wrappers, if they were folded. Requires the number of S to
 * be known. */
uint32_t user_code_frame_unfolded(const struct user_code *own, const struct stack *s);

#endif
