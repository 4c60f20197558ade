/* hook_names_static.c: nothing, since hooks are made of symbols that the dynamic linker looks up,
 * and nothing is unloaded.
 */
#include "entry/hook_names.h"

void
hook_names_forget(void)
{
}
