/* cflags: -O1 */
/* chrooted.c: change the root to an empty directory, then allocate 1,000 blocks.
 *
 *   chrooted DIRECTORY early|late
 *
 * With "early", the root changes before the first allocation; with "late", after it. Prints "done"
 * and exits with 4, or exits with 77 if it may not change its root. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile block;

__attribute__((noinline)) static void
work(void)
{
    for (int i = 0; i < 1000; i++) {
        block = malloc(100);
        free(block);
        __asm__ volatile("" : : : "memory");
    }
}

int
main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    if (argv[2][0] == 'l')
        work();
    if (chroot(argv[1]) != 0 || chdir("/") != 0)
        return 77;
    work();
    return write(1, "done\n", 5) == 5 ? 4 : 1;
}
