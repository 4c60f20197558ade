/* cflags: -fno-builtin */
/* unchanged.c: print everything about its environment that a program can observe, to compare two
 * runs.
 *
 * Line by line: the environment without recording's additions (LD_PRELOAD, HEAPTAP_*, and the
 * shell's _), unsorted; the open descriptors and the number the next one gets; errno after
 * successful calls of each kind and after a failed one; alignment of 1000 blocks; signal mask and
 * dispositions; limits; threads, masks, privileges and the like from the kernel (SigCgt without
 * SIGBUS, which the recorder handles); file mappings, without the recorder and its profile; the
 * environment, descriptors and signals of a child that it starts; argv. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
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

static void
limits(void)
{
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit limit = {0};

        getrlimit((__rlimit_resource_t)i, &limit);
        printf("limit %d %jd %jd\n", i, (intmax_t)limit.rlim_cur, (intmax_t)limit.rlim_max);
    }
}

/* Print the lines of /proc/self/status, except those for sizes, ids or interruptions. */
static void
status(void)
{
    static const char *const left_out[] = {
        "Vm",        "Rss",    "Pid",  "PPid",      "Tgid",       "Ngid",
        "NSp",       "NStg",   "NSs",  "voluntary", "nonv",       "Hugetlb",
        "TracerPid", "SigCgt", "SigQ", "FDSize",    "Speculation"};
    FILE *f = fopen("/proc/self/status", "r");
    char line[4096];

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        int shown = 1;

        for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
            shown &= strncmp(line, left_out[i], strlen(left_out[i])) != 0;
        if (shown)
            printf("status %s", line);
        if (strncmp(line, "SigCgt:", 7) == 0)
            printf("caught %#llx\n", strtoull(line + 7, NULL, 16) & ~(1ull << (SIGBUS - 1)));
    }
    if (f != NULL)
        fclose(f);
}

static void
mappings(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[8192], rights[8], path[4096];

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "%*s %7s %*s %*s %*s %4095s", rights, path) == 2 &&
            strstr(path, "libheaptap.so") == NULL && strstr(path, ".heaptap") == NULL)
            printf("mapped %s %s\n", rights, path);
    if (f != NULL)
        fclose(f);
}

/* Print the environment, descriptors and signals that a child inherits. */
static void
children(void)
{
    fflush(stdout);
    if (system("env -u LD_PRELOAD -u _ env | grep -v ^HEAPTAP_ | sort;"
               "ls /proc/self/fd; grep -E '^Sig(Blk|Ign)' /proc/self/status; ulimit -a; umask;"
               "exit 9") != 9 << 8)
        printf("the child ended otherwise\n");
}

int
main(int argc, char **argv)
{
    environment();
    descriptors();
    errors();
    alignment();
    signals();
    limits();
    status();
    mappings();
    children();
    for (int i = 1; i < argc; i++)
        printf("argument %s\n", argv[i]);
    return 42;
}
