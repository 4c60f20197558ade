/* once.c: a program that allocates one block and does nothing else; see startup.c. */
#include <stdlib.h>

static void *volatile kept;

int
main(void)
{
    kept = malloc(100);
    return kept ? 0 : 1;
}
