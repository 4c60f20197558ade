/* cflags: -O1 -fno-optimize-sibling-calls */
/* libs: -lpthread */
/* locked.c: lock future mappings, without the right to lock more than a limit.
 *
 *   locked BYTES early|late
 *
 * The limit on locked memory is BYTES. With "early", the program locks before its first allocation;
 * with "late", after 100 allocations. Then three threads, one after the other, and the main one
 * allocate at 4,096 places each, so that all tables of a profile grow. Prints "done" and exits with
 * 8. */
#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descend.h"

enum { DEPTH = 12, EVENTS = 1 << DEPTH, THREADS = 3 };

LEAF(leaf, 16)
LEAF(early_leaf, 100)

static void *
work(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < EVENTS; i++)
        free(descend(i, DEPTH, leaf));
    return NULL;
}

static int
lock(rlim_t bytes)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2];
    struct rlimit limit = {bytes, bytes};

    memset(none, 0, sizeof none);
    return setrlimit(RLIMIT_MEMLOCK, &limit) == 0 && syscall(SYS_capset, &header, none) == 0 &&
           mlockall(MCL_FUTURE) == 0;
}

int
main(int argc, char **argv)
{
    rlim_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 1 << 20;
    int late = argc > 2 && argv[2][0] == 'l';
    pthread_attr_t attributes;
    pthread_t thread;

    for (int i = 0; late && i < 100; i++)
        free(early_leaf());
    if (!lock(bytes))
        return 77;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    work(NULL);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&thread, &attributes, work, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    puts("done");
    return 8;
}
