/* dormant_attached.c: activates the recorder that a tool has attached. The tool refuses processes
 * that another recorder records. */
#include "platform/host.h"

bool
dormant_here(void)
{
    return false;
}

bool
dormant_starts_early(void)
{
    return true;
}
