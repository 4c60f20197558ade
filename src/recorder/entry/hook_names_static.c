/* hook_names_static.c: empty, since hooks are symbols that the dynamic linker looks up, and nothing
 * is unloaded. */
#include "entry/hook_names.h"

void
hook_names_forget(void)
{
}
