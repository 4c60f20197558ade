/* cflags: -fno-builtin */
/* unchanged.c: says what a program can see of the process around it, so that two runs can be
 * compared.
 *
 * Line by line: the environment without what recording adds (LD_PRELOAD, HEAPTAP_*, and the shell's
 * _), sorted by nobody; the open descriptors and the number the next one gets; errno after
 * successful calls of each kind and after a failed one; alignment of 1000 blocks; signal mask and
 * dispositions; argv.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static void
environment(void)
{
    for (char **e = environ; *e != NULL; e++)
        if (strncmp(*e, "LD_PRELOAD=", 11) != 0 && strncmp(*e, "HEAPTAP_", 8) != 0 &&
            strncmp(*e, "_=", 2) != 0)
            printf("env %s\n", *e);
}

static void
descriptors(void)
{
    for (int fd = 0; fd < 256; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            printf("open %d\n", fd);
    printf("next %d\n", open("/dev/null", O_RDONLY));
}

static void
errors(void)
{
    void *p, *q = NULL;

    errno = 1234;
    p = malloc(10);
    p = realloc(p, 10000);
    free(p);
    free(calloc(3, 3));
    p = memalign(64, 10);
    printf("errno %d\n", errno);
    free(p);
    printf("memalign %d\n", posix_memalign(&q, 64, 10));
    free(q);
    printf("errno %d\n", errno);
    p = malloc(PTRDIFF_MAX - 4096);
    printf("failed %d errno %d\n", p == NULL, errno);
}

static void
alignment(void)
{
    uintptr_t all = 0;

    for (size_t i = 0; i < 1000; i++) {
        void *p = malloc(i + 1);

        all |= (uintptr_t)p;
        if (malloc_usable_size(p) < i + 1)
            printf("block %zu too small\n", i + 1);
    }
    printf("alignment %d\n", (int)(all & -all));
}

static void
signals(void)
{
    sigset_t mask;

    sigprocmask(SIG_BLOCK, NULL, &mask);
    for (int i = 1; i < 65; i++) {
        struct sigaction action = {.sa_handler = SIG_DFL};

        sigaction(i, NULL, &action);
        if (action.sa_handler != SIG_DFL || sigismember(&mask, i) > 0)
            printf("signal %d %d %d\n", i, action.sa_handler == SIG_IGN, sigismember(&mask, i));
    }
}

int
main(int argc, char **argv)
{
    environment();
    descriptors();
    errors();
    alignment();
    signals();
    for (int i = 1; i < argc; i++)
        printf("argument %s\n", argv[i]);
    return 42;
}
