/* uncounted_static.c: a static executable lacks the names of the functions that its parts call. So
 * its profile never states that all of them count. */
#include "access/uncounted.h"

void
uncounted_look(void)
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
