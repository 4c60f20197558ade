/* function.c: where a function begins, as its unwind entry has it.
 *
 * Stripped programs have these entries too, and compilers make one for each function, so an address
 * in it leads to its beginning, which may then be compared with a pointer to the function. A part
 * of a function that was moved elsewhere has an entry of its own.
 */
#include "unwind/function.h"

#include "unwind/cfi.h"

uint64_t
unwind_function(uint64_t pc)
{
    struct unwind_object object;
    struct cfi_function f;

    if (!unwind_find_object(pc, &object) || cfi_find(pc, &object, &f) != CFI_FOUND)
        return 0;
    return f.begin;
}
