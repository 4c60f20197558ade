/* hook_names_static.c: empty, because hooks are symbols that the dynamic linker looks up, and a
 * static program unloads nothing. */
#include "entry/entry.h"

void
hook_names_forget(void)
{
}
