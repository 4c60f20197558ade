/* process_static.c: libc's pointer to the environment is the first thing that is set in a static
 * program.
 */
#include "platform/process.h"

char **
process_first_environment(void)
{
    return NULL;
}
