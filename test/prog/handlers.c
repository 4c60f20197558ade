/* cflags: -fno-builtin -fno-optimize-sibling-calls */
/* handlers.c: allocate in signal handlers. The program raises the signals, so their places are
 * known.
 *
 *     on_here   <- __restore_rt <- raise ... <- from_below   200 blocks  2000 bytes, same stack
 *     on_there  <- __restore_rt <- raise ... <- from_below   200 blocks  4000 bytes, alternate
 *     from_below itself                                      400 blocks 12000 bytes */
#include <signal.h>
#include <stdlib.h>

enum { TIMES = 200, STACK_BYTES = 1 << 16 };

static void *volatile kept;
static char stack[STACK_BYTES];

__attribute__((noinline, noclone)) static void
on_here(int number)
{
    kept = malloc(10);
    (void)number;
}

__attribute__((noinline, noclone)) static void
on_there(int number)
{
    kept = malloc(20);
    (void)number;
}

__attribute__((noinline, noclone)) static void
from_below(void)
{
    kept = malloc(30);
    raise(SIGUSR1);
    kept = malloc(30);
    raise(SIGUSR2);
}

int
main(void)
{
    struct sigaction here = {.sa_handler = on_here};
    struct sigaction there = {.sa_handler = on_there, .sa_flags = SA_ONSTACK};

    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    sigaction(SIGUSR1, &here, NULL);
    sigaction(SIGUSR2, &there, NULL);
    for (int i = 0; i < TIMES; i++)
        from_below();
    return 0;
}
