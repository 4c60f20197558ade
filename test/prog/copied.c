/* libs: -lpthread */
/* copied.c: a process whose memory is copied while it runs.
 *
 *   copied        has three blocks of 1000 bytes. The only pointer to the first is in memory that
 *                 forked children find wiped, that to the second in memory that they do not get,
 *                 and that to the third in an ordinary variable.
 *   copied filter is the same with a seccomp filter that permits everything.
 *   copied busy   has four threads that look for mistakes: one changes a list, one waits for
 *                 children, one for the end of a pipe that it closes, and one in epoll_wait.
 *
 * Prints "ready" and waits for a line. Then a busy one prints the rounds that its slowest thread
 * has made, or the first mistake. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, LIST_BLOCKS = 2000, WAIT_MS = 5, PAGE_BYTES = 4096, BLOCK_BYTES = 1000 };

struct item {
    struct item *next;
    uint64_t number;
};

static void *volatile kept;
static atomic_bool ends;
static atomic_ulong rounds[THREADS];
static const char *volatile mistake;

static void *
page_with(void *block, int advice)
{
    void **page =
        mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED || madvise(page, PAGE_BYTES, advice) != 0)
        abort();
    *page = block;
    return page;
}

static void
change_list(void)
{
    struct item *list = NULL;

    for (uint64_t i = 0; i < LIST_BLOCKS; i++) {
        struct item *item = malloc(sizeof *item);

        *item = (struct item){list, i};
        list = item;
    }
    for (uint64_t i = LIST_BLOCKS; i-- > 0;) {
        struct item *next = list->next;

        if (list->number != i)
            mistake = "the list has changed";
        free(list);
        list = next;
    }
}

static void
wait_for_child(void)
{
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    if (wait(NULL) != child)
        mistake = "wait returned something else";
    if (wait(NULL) != -1 || errno != ECHILD)
        mistake = "there was another child";
}

static void
read_to_end(void)
{
    int ends_of[2];
    char byte;

    if (pipe(ends_of) != 0)
        abort();
    close(ends_of[1]);
    if (read(ends_of[0], &byte, 1) != 0)
        mistake = "the pipe had no end";
    close(ends_of[0]);
}

static void
wait_for_event(void)
{
    int set = epoll_create1(0);
    struct epoll_event event;

    if (epoll_wait(set, &event, 1, WAIT_MS) != 0)
        mistake = "epoll_wait did not wait";
    close(set);
}

static void *
repeat(void *arg)
{
    static void (*const what[THREADS])(void) = {change_list, wait_for_child, read_to_end,
                                                wait_for_event};
    size_t i = (size_t)(uintptr_t)arg;

    while (!ends && mistake == NULL) {
        what[i]();
        rounds[i]++;
    }
    return NULL;
}

static void
be_busy(void)
{
    pthread_t threads[THREADS];
    unsigned long least;

    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, repeat, (void *)(uintptr_t)i);
    printf("ready\n");
    fflush(stdout);
    getchar();
    ends = true;
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    least = rounds[0];
    for (size_t i = 1; i < THREADS; i++)
        least = rounds[i] < least ? rounds[i] : least;
    if (mistake != NULL)
        printf("%s\n", mistake);
    else
        printf("%lu\n", least);
}

static void
permit_everything(void)
{
    struct sock_filter permit = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {1, &permit};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        abort();
}

int
main(int argc, char **argv)
{
    void *wiped, *left_out;

    if (argc > 1 && strcmp(argv[1], "busy") == 0) {
        be_busy();
        return 0;
    }
    wiped = page_with(malloc(BLOCK_BYTES), MADV_WIPEONFORK);
    left_out = page_with(malloc(BLOCK_BYTES), MADV_DONTFORK);
    kept = malloc(BLOCK_BYTES);
    if (argc > 1)
        permit_everything();
    printf("ready\n");
    fflush(stdout);
    getchar();
    munmap(wiped, PAGE_BYTES);
    munmap(left_out, PAGE_BYTES);
    return 0;
}
