/* real_calls_attached.c: defines the functions that the recorder calls after an attach. The tool
 * passes them before the first call (real_attached.c). */
#include "entry/entry.h"

struct real_allocator real;

void
real_calls_resolve(void)
{
    real = *real_functions();
    if (real_calls_back())
        guarded_next_in_front(&real);
}

void
real_calls_end(void)
{
    // There are no annotated blocks.
}
