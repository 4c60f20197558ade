/* cflags: -fno-builtin */
/* libscope_c.c: a plug-in in C.
 *
 *     use       8 blocks by all functions, ended: 346 bytes
 *     leave     3 blocks of 1,000 bytes that stay
 *     create, destroy   1 block of 100 bytes, by jumps, so that the caller has no frame
 *     take      frees a foreign block */
#include <malloc.h>
#include <string.h>

#include "scope.h"

SHOWN void
use(void)
{
    void *p = kept(malloc(10));

    p = kept(realloc(p, 40));
    say("  %d", malloc_usable_size(p) >= 40);
    free(p);
    p = kept(calloc(2, 16));
    say(" %d", memcmp(p, (char[32]){0}, 32) == 0);
    free(p);
    if (posix_memalign(&p, 64, 64) != 0)
        abort();
    free(kept(p));
    free(kept(aligned_alloc(64, 64)));
    free(kept(memalign(64, 64)));
    free(kept(reallocarray(NULL, 8, 8)));
    p = kept(strdup("strdup!"));
    say(" %s\n", (char *)p);
    free(p);
}

static void *left[3];

SHOWN void
leave(void)
{
    for (int i = 0; i < 3; i++)
        left[i] = kept(malloc(1000));
    say("  left\n");
}

SHOWN void *
create(void)
{
    return malloc(100);
}

SHOWN void
destroy(void *p)
{
    free(p);
}

SHOWN void
take(void *p)
{
    free(p);
    say("\n");
}
