/* process_dynamic.c: the environment before libc has begun.
 *
 * The dynamic linker may allocate before libc's constructor has set libc's pointer, and does so
 * where an auditor (LD_AUDIT) asks for symbols. It has known since its own start where the kernel
 * put argc, and tells it to collectors of garbage, which look there for the end of the stack. The
 * same word leads to the environment when a program has taken away libc's (clearenv).
 */
#include "platform/process.h"

extern char **__libc_stack_end; // Where argc lies.

char **
process_first_environment(void)
{
    char **p = __libc_stack_end;

    if (p == NULL)
        return NULL;
    // Not by argc, which may still count the arguments of a loader that was started by hand.
    while (*++p != NULL)
        ;
    return p + 1;
}
