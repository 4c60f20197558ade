/* workers.c: a server that forks four workers. Each handles 1,000 requests and allocates 4,000
 * bytes for each. Worker 2 never frees, so it holds 4,000,000 bytes when it ends; the others hold
 * 4,000 at most. The server itself allocates 1,000 bytes. */
/* cflags: -fno-builtin -O1 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 4, FORGETS = 2, REQUESTS = 1000, EACH = 4000 };

__attribute__((noinline)) static void *
answer(void)
{
    return memset(malloc(EACH), 1, EACH);
}

__attribute__((noinline)) static void
work(int worker)
{
    for (int i = 0; i < REQUESTS; i++) {
        void *volatile block = answer();

        if (worker != FORGETS)
            free(block);
    }
}

int
main(void)
{
    void *volatile settings = malloc(1000);

    for (int i = 0; i < WORKERS; i++)
        if (fork() == 0) {
            work(i);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    free(settings);
    return 0;
}
