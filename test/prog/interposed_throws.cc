/* libs: -Lbuild/test/prog -linterposed -Wl,-rpath,$ORIGIN */
/* interposed_throws.cc: use a library (libinterposed.c) that defines names of libc as functions
 * that throw if any code but the program calls them. Allocates and frees at two places, also in a
 * forked child. Exits with 9. */
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

extern "C" void (*interposed_stranger)(void);

static void *volatile block;

static void
complain()
{
    throw 42;
}

__attribute__((noinline)) static void
work()
{
    interposed_stranger = complain;
    for (int i = 0; i < 1000; i++) {
        block = malloc(24);
        free(block);
        block = operator new(16);
        operator delete(block);
    }
    interposed_stranger = nullptr;
}

int
main()
{
    int status = 0;

    work();
    pid_t pid = fork();
    if (pid == 0) {
        work();
        _exit(9);
    }
    if (waitpid(pid, &status, 0) != pid || status != 9 << 8)
        return 1;
    puts("done");
    return 9;
}
