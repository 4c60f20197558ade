/* process_dynamic.c: the environment before libc has begun.
 *
 * The dynamic linker may allocate before libc's constructor has set libc's pointer; it does so
 * where an auditor (LD_AUDIT) resolves symbols. From its own start on, it exports the address at
 * which the kernel put argc, for garbage collectors, which need the end of the stack. The same word
 * leads to the environment when a program has cleared libc's (clearenv). */
#include "platform/process.h"

extern char **__libc_stack_end; // Address of argc.

char **
process_first_environment(void)
{
    char **p = __libc_stack_end;

    if (p == NULL)
        return NULL;
    // Does not use argc, which may still count the arguments of a loader that was started by hand.
    while (*++p != NULL)
        ;
    return p + 1;
}
