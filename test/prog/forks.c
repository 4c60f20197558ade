/* cflags: -fno-builtin */
/* forks.c: fork a child, then start another program.
 *
 *     parent   before  1000 blocks of 10 bytes, 10000 bytes
 *     child    inside   500 blocks of 20 bytes, 10000 bytes; frees 200, and 300 of the parent's
 *     parent   later    100 blocks of 30 bytes, 3000 bytes
 *
 * The child's profile has 500 allocations and 200 frees in `inside`, no counts of `before`, and 300
 * inherited frees. The parent's profile has no counts of `inside`, and its blocks are all live.
 * Last, the parent starts /bin/true through vfork, which has a separate profile with few
 * allocations. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *blocks[1000], *own[500], *more[100];

__attribute__((noinline)) static void
before(void)
{
    for (int i = 0; i < 1000; i++)
        blocks[i] = malloc(10);
}

__attribute__((noinline)) static void
inside(void)
{
    for (int i = 0; i < 500; i++)
        own[i] = malloc(20);
}

__attribute__((noinline)) static void
later(void)
{
    for (int i = 0; i < 100; i++)
        more[i] = malloc(30);
}

static int
child(void)
{
    inside();
    for (int i = 0; i < 200; i++)
        free(own[i]);
    for (int i = 0; i < 300; i++)
        free(blocks[i]);
    return 3;
}

int
main(void)
{
    int status = 0;
    pid_t pid;

    before();
    pid = fork();
    if (pid == 0)
        return child();
    if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3)
        return 1;
    later();
    pid = vfork();
    if (pid == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(9);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return 2;
    return 0;
}
