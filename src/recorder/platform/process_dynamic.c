/* process_dynamic.c: finds the environment before libc is initialised.
 *
 * The dynamic linker may allocate before libc's constructor has set libc's pointer; it does so
 * where an auditor (LD_AUDIT) resolves symbols. From its own start on, it exports the address at
 * which the kernel put argc. That variable exists for garbage collectors, which need the end of the
 * stack. It also leads to the environment when a program has cleared libc's pointer (clearenv). */
#include "platform/process.h"

extern char **__libc_stack_end; // Address of argc.

char **
process_first_environment(void)
{
    char **p = __libc_stack_end;

    if (p == NULL)
        return NULL;
    // Do not use argc: it may still count the arguments of a loader that was started as a command.
    while (*++p != NULL)
        ;
    return p + 1;
}
