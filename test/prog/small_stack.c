/* cflags: -fno-builtin-malloc -fno-optimize-sibling-calls */
/* libs: -Wl,-z,now */
/* small_stack.c: run a coroutine on a small stack; the memory below the stack is inaccessible.
 *
 *   small_stack BYTES first    its first allocation is the process's first event, if the libraries
 *                              make none
 *   small_stack BYTES later    after events of the thread on its own stack
 *   small_stack BYTES child    after a fork in it: the child's first event
 *   small_stack BYTES paint    as later; says on stderr how much of the stack was used at most
 *
 * The coroutine allocates 2,048 blocks at 448 places in all size classes, so that tables of the
 * profile grow, and reallocates and frees them. The program prints "done" and exits with 5. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { BLOCKS = 2048, PAGE = 4096, PAINT = 0x5a };

static ucontext_t outside, inside;
static void *blocks[BLOCKS];
static int forks, child_status;

typedef void *place_fn(size_t size);

#define PLACE(n)                                                                                   \
    __attribute__((noinline, noclone)) static void *place##n(size_t size)                          \
    {                                                                                              \
        void *p = malloc(size);                                                                    \
                                                                                                   \
        __asm__ volatile("" : : "r"(p));                                                           \
        return p;                                                                                  \
    }
#define EIGHT(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define MORE(X, n)                                                                                 \
    EIGHT(X, n##0) EIGHT(X, n##1) EIGHT(X, n##2) EIGHT(X, n##3)                                    \
    EIGHT(X, n##4) EIGHT(X, n##5) EIGHT(X, n##6) EIGHT(X, n##7)
#define ALL(X) MORE(X, 1) MORE(X, 2) MORE(X, 3) MORE(X, 4) MORE(X, 5) MORE(X, 6) MORE(X, 7)
#define NAME(n) place##n,

ALL(PLACE)
static place_fn *const places[] = {ALL(NAME)};

static void
work(void)
{
    if (forks) {
        pid_t pid = fork();

        if (pid > 0) {
            waitpid(pid, &child_status, 0);
            return;
        }
    }
    for (size_t i = 0; i < BLOCKS; i++)
        blocks[i] = places[i % (sizeof places / sizeof *places)](10 * i);
    for (size_t i = 0; i < BLOCKS; i++)
        blocks[i] = realloc(blocks[i], 100 + 9 * i);
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    if (forks)
        _exit(5);
}

int
main(int argc, char **argv)
{
    size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 65536;
    size_t whole = (bytes + PAGE - 1) / PAGE * PAGE, unused = 0;
    const char *mode = argc > 2 ? argv[2] : "first";
    unsigned char *stack;

    stack = mmap(NULL, PAGE + whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, PAGE, PROT_NONE) != 0)
        return 1;
    stack += PAGE;
    memset(stack, PAINT, bytes);
    forks = mode[0] == 'c';
    if (mode[0] != 'f')
        free(malloc(100));
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = bytes;
    inside.uc_link = &outside;
    makecontext(&inside, work, 0);
    swapcontext(&outside, &inside);
    if (forks && child_status != 5 << 8)
        return 2;
    while (unused < bytes && stack[unused] == PAINT)
        unused++;
    if (mode[0] == 'p')
        fprintf(stderr, "%zu\n", bytes - unused);
    puts("done");
    return 5;
}
