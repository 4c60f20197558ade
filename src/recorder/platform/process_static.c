/* process_static.c: empty, because in a static program libc's pointer to the environment is set
 * first. */
#include "platform/process.h"

char **
process_first_environment(void)
{
    return NULL;
}
