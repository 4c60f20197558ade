/* functions.h: find functions of a running process by name, in all symbol tables. */
#ifndef ATTACH_FUNCTIONS_H
#define ATTACH_FUNCTIONS_H

#include "attach/attach_how.h"
#include "attach/target.h"

/* A function to be hooked. */
struct function {
    const char *name;
    uint32_t shape; // enum hook_shape
    struct target_symbol symbol;
};

/* Find the functions of the COUNT HOOKS in T. Store them in *RET, from the arena of T. Returns 0,
 * or HEAPTAP_BAD_INPUT with ERR set if one is missing, ambiguous, or no function. */
int functions_find(struct target *t, const struct attach_hook *hooks, size_t count,
                   struct function **ret, size_t *ret_count, struct err *err);

/* Find the functions of an allocator that the program of T defines under the usual names, exported
 * or not. Store them in *RET, from the arena of T, and return their number; 0 if it defines no
 * malloc and free. */
size_t functions_of_program(struct target *t, struct function **ret);

#endif
