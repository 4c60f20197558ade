/* uses.c: let functions of libc use a block of 5008 bytes, the first, and one of 6000, the second.
 * USES selects the functions:
 *
 *     1  only sscanf with positions, sigaction and posix_memalign write the first; sigaction,
 *        ppoll, dlopen and getenv read the second, which is the environment for a while
 *     2  setjmp uses both        3  fegetenv and fesetenv use both
 *     4  a function found by dlsym uses the first
 *     5  the second is the environment when the process ends
 *     6  printf with more positions than are counted reads the first
 *     7  a structure passed by value reads the second
 *     8  an atomic subtraction reads the second        9  an assembler statement does
 *    10  connect, which fails, reads the first; a memcmp for equality reads the second */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fenv.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

#define EIGHT 1, 2, 3, 4, 5, 6, 7, 8

static __attribute__((noinline)) char *
first(void)
{
    // Prevents a tail call, after which the caller's frame would be missing.
    char *volatile p = malloc(5008);

    return p;
}

static __attribute__((noinline)) char *
second(void)
{
    char *volatile p = malloc(6000);

    return p;
}

struct large {
    char bytes[64];
};

static __attribute__((noinline)) int
at(struct large s, int i)
{
    return s.bytes[i];
}

static void
use(char *p, char *q)
{
#if USES == 1
    char **saved = environ, **table = (char **)(q + 1024);
    struct sigaction *action = (struct sigaction *)(q + 2048);
    struct timespec *time = (struct timespec *)(q + 4096);

    sscanf("5 6", "%2$d %1$d", (int *)p, (int *)p + 1);
    sigaction(SIGUSR1, NULL, (struct sigaction *)(p + 1024));
    free(posix_memalign((void **)(p + 4096), 64, 64) == 0 ? *(void *volatile *)(p + 4096) : NULL);
    strcpy(q, "/nonexistent/library.so");
    dlopen(q, RTLD_NOW);
    table[0] = "USES_NAME=1";
    table[1] = NULL;
    environ = table;
    getenv("USES_NAME");
    environ = saved;
    action->sa_handler = SIG_IGN;
    sigaction(SIGUSR2, action, NULL);
    time->tv_nsec = 1;
    ppoll(NULL, 0, time, NULL);
#elif USES == 2
    q[5000] = 1;
    if (setjmp(*(jmp_buf *)p) == 0 && setjmp(*(jmp_buf *)q) == 0)
        longjmp(*(jmp_buf *)q, 1);
#elif USES == 3
    fegetenv((fenv_t *)p);
    q[0] = 1;
    fegetenv((fenv_t *)q);
    fesetenv((fenv_t *)q);
#elif USES == 4
    void *(*fill)(void *, size_t) = (void *(*)(void *, size_t))dlsym(RTLD_DEFAULT, "memfrob");

    fill(p, 1);
    q[0] = 1;
#elif USES == 5
    char **table = (char **)q;

    table[0] = p;
    table[1] = NULL;
    environ = table;
#elif USES == 6
    q[0] = 'q';
    fprintf(stderr, "%65$s", EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, p);
#elif USES == 7
    memset(q, 1, 64);
    if (at(*(struct large *)q, 5) != 1)
        _exit(4);
#elif USES == 8
    *(int *)q = 1;
    if (__atomic_fetch_sub((int *)q, 1, __ATOMIC_SEQ_CST) != 1)
        _exit(4);
#elif USES == 9
    char c;

    q[0] = 1;
    __asm__ volatile("movb (%1), %0" : "=r"(c) : "r"(q) : "memory");
#elif USES == 10
    struct sockaddr_in *a = (struct sockaddr_in *)p;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    a->sin_family = AF_INET;
    a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect(fd, (struct sockaddr *)a, sizeof *a);
    close(fd);
    q[0] = 1;
    if (memcmp(q, p + 1000, 16) == 0)
        _exit(4);
#endif
}

int
main(void)
{
    char *volatile p = first(), *volatile q = second();

    use(p, q);
#if USES != 5
    free(p);
    free(q);
#endif
    return 0;
}
