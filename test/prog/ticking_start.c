/* cflags: -fno-builtin */
/* libs: -Lbuild/test/prog -lbump -Wl,-rpath,$ORIGIN */
/* ticking_start.c: make a program's first allocations in main and, at any moment, in the handler of
 * a timer, before the recorder has resolved the real allocator. The program is linked with an
 * allocator that cannot return block sizes; a query of another library crashes.
 *
 * The timer stops after TICKS_MAX ticks, so that the program ends even if a tick takes as long as
 * the period. */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

enum { PERIOD_US = 40, EACH = 3, PAIRS = 200, TICKS_MAX = 20000 };

static void *volatile kept;
static volatile int ticks;

static void
on_tick(int number)
{
    static const struct itimerval never = {{0, 0}, {0, 0}};

    (void)number;
    for (int i = 0; i < EACH; i++)
        kept = malloc(20);
    if (++ticks == TICKS_MAX)
        setitimer(ITIMER_REAL, &never, NULL);
}

int
main(void)
{
    struct itimerval every = {{0, PERIOD_US}, {0, PERIOD_US}}, never = {{0, 0}, {0, 0}};

    signal(SIGALRM, on_tick);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; i < PAIRS; i++)
        free(malloc(100));
    setitimer(ITIMER_REAL, &never, NULL);
    return 0;
}
