/* cflags: -fno-builtin -fno-tree-loop-distribute-patterns */
/* libs: -lpthread */
/* libinterposed.c: the functions of interposed.h in a library to be preloaded. At the end of the
 * program it prints on stderr how often each was called. */
#include "interposed.h"

__attribute__((destructor)) static void
tell(void)
{
    interposed_stranger = NULL;
    interposed_print(stderr);
}
