/* function.c: where a function begins, as its unwind entry has it.
 *
 * Stripped programs have these entries too, and compilers make one for each function, so an address
 * in it leads to its beginning, which may then be compared with a pointer to the function. A part
 * of a function that was moved elsewhere has an entry of its own.
 */
#include "unwind/function.h"

#include "unwind/cfi.h"

/* The unwind entry for PC; false if there is none. */
static bool
find(uint64_t pc, struct cfi_function *ret_function)
{
    struct unwind_object object;

    return unwind_find_object(pc, &object) && cfi_find(pc, &object, ret_function) == CFI_FOUND;
}

uint64_t
unwind_function(uint64_t pc)
{
    struct cfi_function f;

    return find(pc, &f) ? f.begin : 0;
}

uint64_t
unwind_function_end(uint64_t pc)
{
    struct cfi_function f;

    return find(pc, &f) ? f.begin + f.size : 0;
}
