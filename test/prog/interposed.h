/* interposed.h: functions under names of libc, for a program (interposed.c) or a library to be
 * preloaded (libinterposed.c). */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t interposed_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int interposed_asked; // The call is ours.
static int interposed_fails;
static void *volatile interposed_block;

/* What there is below each function: true if it is to fail. */
__attribute__((noinline)) static int
interposed_enter(unsigned *strangers)
{
    pthread_mutex_lock(&interposed_lock);
    *strangers += !interposed_asked;
    interposed_block = malloc(32);
    free(interposed_block);
    pthread_mutex_unlock(&interposed_lock);
    return interposed_fails && !interposed_asked;
}

/* All of them: name, and how interposed_call_all calls it. */
#define INTERPOSED(X) X(clock_gettime, clock_gettime(CLOCK_MONOTONIC, &time))

#define COUNT(name, call) static unsigned interposed_##name;
INTERPOSED(COUNT)

/* Begins the function NAME. */
#define ENTER(name, failed)                                                                        \
    do {                                                                                           \
        if (interposed_enter(&interposed_##name))                                                  \
            return failed;                                                                         \
    } while (0)

int
clock_gettime(clockid_t clock, struct timespec *ret)
{
    ENTER(clock_gettime, -1);
    return (int)syscall(SYS_clock_gettime, clock, ret);
}

static inline void
interposed_call_all(void)
{
    struct timespec time;

#define CALL(name, call)                                                                           \
    interposed_asked = 1;                                                                          \
    call;                                                                                          \
    interposed_asked = 0;
    INTERPOSED(CALL)
}

static inline void
interposed_print(void)
{
#define PRINT(name, call) printf("%s %u\n", #name, interposed_##name);
    INTERPOSED(PRINT)
}
