/* process_static.c: the variant for static programs. It finds no environment, because there libc
 * sets its pointer to the environment before the first event. */
#include "platform/process.h"

char **
process_first_environment(void)
{
    return NULL;
}
