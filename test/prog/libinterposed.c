/* cflags: -fno-builtin -fno-tree-loop-distribute-patterns */
/* libs: -lpthread */
/* libinterposed.c: the functions of interposed.h in a library to be preloaded. When the program
 * ends, the library prints on stderr how often each function was called by other code. */
#include "interposed.h"

__attribute__((destructor)) static void
tell(void)
{
    interposed_stranger = NULL;
    interposed_print(stderr);
}
