/* uncounted_static.c: a static executable does not have the names of what its parts call, so the
 * profile never has it that all of them count.
 */
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
