/* process_static.c: empty, since a static program sets libc's pointer to the environment first. */
#include "platform/process.h"

char **
process_first_environment(void)
{
    return NULL;
}
