/* cflags: -fno-builtin */
/* libs: -Lbuild/test/prog -lbump -Wl,-rpath,$ORIGIN */
/* signals.c: allocate in a signal handler while the program allocates.
 *
 * A timer interrupts 3000 times; the handler allocates 3 blocks of 20 bytes and keeps them.
 * Meanwhile, main allocates and frees blocks of 100 bytes. The program is linked with an allocator
 * that handlers may call. At the end, it prints "main N handler M". If a handler interrupts the
 * recorder, the handler's events are counted as lost. So allocations in `on_alarm` + losses.events
 * = M, and `work` has exactly N allocations. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { ALARMS = 3000, EACH = 3, PERIOD_US = 200 };

static volatile sig_atomic_t alarms;
static volatile long in_handler;
static void *volatile kept;

__attribute__((noinline)) static void
on_alarm(int number)
{
    (void)number;
    if (alarms == ALARMS)
        return;
    for (int i = 0; i < EACH; i++) {
        kept = malloc(20);
        in_handler++;
    }
    alarms++;
}

__attribute__((noinline)) static long
work(void)
{
    long count = 0;

    while (alarms < ALARMS) {
        free(malloc(100));
        count++;
    }
    return count;
}

int
main(void)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval every = {{0, PERIOD_US}, {0, PERIOD_US}}, never = {{0, 0}, {0, 0}};
    char text[100];
    int length;
    long count;

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    count = work();
    setitimer(ITIMER_REAL, &never, NULL);
    length = snprintf(text, sizeof text, "main %ld handler %ld\n", count, in_handler);
    return write(1, text, (size_t)length) != length;
}
