/* libs: -lpthread */
/* sigbus.c: access pages that have vanished, of the program and of the profile.
 *
 *     sigbus profile BYTES   allocates 20000 blocks of 24 bytes in before(), truncates the mapped
 *                            profile to BYTES, then allocates 20000 blocks in after(), in two
 *                            threads and from new stacks, so that every table is written and grows
 *     sigbus own             touches a page of its own that has vanished: must die of SIGBUS
 *     sigbus sent            sends itself SIGBUS: must die of it
 *     sigbus ignored         sends itself SIGBUS while it ignores it
 *     sigbus sigaction       gets SIGBUS with handlers that sigaction sets; prints the previous
 *                            handlers that it read and how often the handlers ran
 *     sigbus signal          like sigaction, with handlers that signal sets
 *     sigbus fork            a child touches a page that has vanished; prints how the child ended
 *
 * Prints "done" and exits with 7 if it survives. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

enum { BLOCKS = 20000, DEPTH = 60 };

static sigjmp_buf back;
static volatile int handled;

OWN static void *
down(int depth, size_t size_bytes)
{
    void *volatile p = depth == 0 ? malloc(size_bytes) : down(depth - 1, size_bytes);

    return p;
}

OWN static void
before(void)
{
    for (int i = 0; i < BLOCKS; i++)
        down(i % 2, 24);
}

/* Use new stacks all the time, by shifting the size class and the depth. */
OWN static void *
after(void *unused)
{
    for (int i = 0; i < BLOCKS / 2; i++)
        free(down(i % DEPTH, (size_t)i % 5000));
    return unused;
}

/* Truncate the file of the mapped profile. */
static int
cut(off_t length)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[8192], *path = NULL;
    int result = -1;

    while (maps != NULL && path == NULL && fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, ".heaptap\n") != NULL && (path = strchr(line, '/')) != NULL)
            path[strlen(path) - 1] = '\0';
    if (path != NULL)
        result = truncate(path, length);
    if (maps != NULL)
        fclose(maps);
    return result;
}

static void
cut_the_profile(off_t length)
{
    pthread_t thread;

    before();
    printf("cut %d\n", cut(length));
    pthread_create(&thread, NULL, after, NULL);
    after(NULL);
    pthread_join(thread, NULL);
}

static void
touch_what_is_gone(void)
{
    char name[] = "sigbus.XXXXXX";
    int fd = mkstemp(name);
    volatile char *page;

    unlink(name);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        exit(1);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED || ftruncate(fd, 0) != 0)
        exit(1);
    *page = 1;
}

static void
handler(int number)
{
    (void)number;
    handled++;
    siglongjmp(back, 1);
}

static void
handle(int by_signal)
{
    struct sigaction ours = {.sa_handler = handler}, old = {0}, now = {0};

    sigaction(SIGBUS, NULL, &old);
    printf("before %d\n", old.sa_handler == SIG_DFL);
    if (by_signal)
        printf("replaced %d\n", signal(SIGBUS, handler) == SIG_DFL);
    else
        printf("replaced %d %d\n", sigaction(SIGBUS, &ours, &old), old.sa_handler == SIG_DFL);
    sigaction(SIGBUS, NULL, &now);
    printf("now %d\n", now.sa_handler == handler);
    free(malloc(1));
    if (sigsetjmp(back, 1) == 0)
        touch_what_is_gone();
    if (sigsetjmp(back, 1) == 0)
        raise(SIGBUS);
    printf("handled %d\n", handled);
    sigaction(SIGBUS, &old, &now);
    printf("back %d\n", now.sa_handler == handler);
}

int
main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int status = 0;

    setvbuf(stdout, NULL, _IONBF, 0);
    free(malloc(1));
    if (strcmp(mode, "profile") == 0 && argc > 2)
        cut_the_profile(atoi(argv[2]));
    else if (strcmp(mode, "own") == 0)
        touch_what_is_gone();
    else if (strcmp(mode, "sent") == 0)
        raise(SIGBUS);
    else if (strcmp(mode, "ignored") == 0)
        printf("ignored %d\n", signal(SIGBUS, SIG_IGN) == SIG_DFL && raise(SIGBUS) == 0);
    else if (strcmp(mode, "fork") == 0) {
        if (fork() == 0)
            touch_what_is_gone();
        wait(&status);
        printf("child %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : -1);
    } else
        handle(strcmp(mode, "signal") == 0);
    printf("done\n");
    return 7;
}
