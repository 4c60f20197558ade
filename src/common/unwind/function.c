/* function.c: finds the start of a function from its unwind entry.
 *
 * Stripped programs keep these entries, and compilers emit one per function. So any address in a
 * function leads to its start, which can be compared with a function pointer. If the compiler moved
 * a part of the function elsewhere, that part has a separate entry. */
#include "unwind/function.h"

#include "unwind/cfi.h"

/* Find the unwind entry that covers PC. Return false if there is none. */
static bool
unwind_function_find(uint64_t pc, struct cfi_function *ret_function)
{
    struct unwind_object object;

    return unwind_find_object(pc, &object) && cfi_find(pc, &object, ret_function) == CFI_FOUND;
}

uint64_t
unwind_function(uint64_t pc)
{
    struct cfi_function f;

    return unwind_function_find(pc, &f) ? f.begin : 0;
}

uint64_t
unwind_function_end(uint64_t pc)
{
    struct cfi_function f;

    return unwind_function_find(pc, &f) ? f.begin + f.size : 0;
}
