/* uncounted_static.c: the variant for static executables. These lack the names of the functions
 * that their parts call, so a profile never states that all parts count accesses. */
#include "access/counted_objects.h"

void
uncounted_scan(void)
{
}

void
uncounted_scan_before_unload(void)
{
}

void
uncounted_note(enum uncounted what)
{
    (void)what;
}

void
uncounted_publish(void)
{
}
