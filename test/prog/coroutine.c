/* cflags: -fno-builtin-malloc -fno-optimize-sibling-calls */
/* coroutine.c: switch between four coroutines on separate stacks after every allocation.
 *
 * Coroutine k allocates 100 times k + 1 bytes in `step`, called by `one`, `two`, `three` or `four`;
 * the last two stacks come from malloc (65536 bytes each, in main), the first two from mmap.
 *
 *     step <- one  100 blocks  100 bytes       step <- three  100 blocks  300 bytes
 *     step <- two  100 blocks  200 bytes       step <- four   100 blocks  400 bytes
 *     main           2 blocks  131072 bytes */
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { TIMES = 100, STACK_BYTES = 65536 };

static ucontext_t main_context, contexts[4];
static void *volatile kept;

__attribute__((noinline, noclone)) static void
step(size_t size_bytes)
{
    kept = malloc(size_bytes);
    __asm__ volatile("" : : : "memory");
}

#define COROUTINE(name, k)                                 \
    static void name(void)                                 \
    {                                                      \
        for (int i = 0; i < TIMES; i++) {                  \
            step((k) + 1);                                 \
            swapcontext(&contexts[k], &main_context);      \
        }                                                  \
    }

COROUTINE(one, 0)
COROUTINE(two, 1)
COROUTINE(three, 2)
COROUTINE(four, 3)

static void
prepare(ucontext_t *c, void *stack, void (*function)(void))
{
    getcontext(c);
    c->uc_stack.ss_sp = stack;
    c->uc_stack.ss_size = STACK_BYTES;
    c->uc_link = &main_context;
    makecontext(c, function, 0);
}

static void *
map_stack(void)
{
    return mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int
main(void)
{
    prepare(&contexts[0], map_stack(), one);
    prepare(&contexts[1], map_stack(), two);
    prepare(&contexts[2], malloc(STACK_BYTES), three);
    prepare(&contexts[3], malloc(STACK_BYTES), four);
    for (int i = 0; i < TIMES; i++)
        for (int k = 0; k < 4; k++)
            swapcontext(&main_context, &contexts[k]);
    return 0;
}
