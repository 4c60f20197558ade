/* reset.c: write 7 times to each of two blocks of 112 bytes, and free one. Then reset all counts,
 * and write twice to the other. */
#include <stdlib.h>

void __memprof_profile_reset(void);

static void *volatile kept;

int
main(void)
{
    volatile char *p[2];

    for (int i = 0; i < 2; i++) {
        kept = malloc(112);
        p[i] = kept;
        for (int j = 0; j < 7; j++)
            p[i][0] = 1;
    }
    free((void *)p[0]);
    __memprof_profile_reset();
    p[1][0] = 1;
    p[1][16] = 1;
    return 0;
}
