/* cflags: -O1 -fno-optimize-sibling-calls */
/* libs: -lpthread */
/* closing.c: close descriptors of others while the profile grows.
 *
 *   closing FILE [all]
 *
 * One thread allocates at 16,384 stacks and frees. Another repeatedly closes descriptors 3 to 5, or
 * all from 3 on, and opens FILE. So a descriptor that the recorder has just opened may refer to
 * FILE at the recorder's next call. Afterwards, the descriptor must still refer to FILE, and FILE
 * must still have 4 bytes. Prints "done" and exits with 6; prints "lost N" if the recorder closed
 * the program's descriptor, or "changed" if the size of FILE differs. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descend.h"

enum { DEPTH = 14, EVENTS = 16384 };

static const char *path;
static volatile int stop;
static int all;
static int lost;

LEAF(leaf, 16)

static void *
close_and_open(void *unused)
{
    struct stat wanted, st;

    (void)unused;
    if (stat(path, &wanted) != 0)
        abort();
    while (!stop) {
        syscall(SYS_close_range, 3, all ? ~0U : 5, 0);
        usleep(100); // Other threads have time to open files.
        for (int i = 0; i < 3; i++) {
            int fd = open(path, O_RDWR);

            if (i == 2)
                usleep(100);
            if (fd >= 0 && (fstat(fd, &st) != 0 || st.st_ino != wanted.st_ino))
                lost++;
        }
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    pthread_t thread;
    struct stat st;

    path = argc > 1 ? argv[1] : "victim";
    all = argc > 2;
    if (pthread_create(&thread, NULL, close_and_open, NULL) != 0)
        return 1;
    for (unsigned i = 0; i < EVENTS; i++)
        free(descend(i, DEPTH, leaf));
    stop = 1;
    pthread_join(thread, NULL);
    if (stat(path, &st) != 0 || st.st_size != 4)
        puts("changed");
    if (lost)
        printf("lost %d\n", lost);
    puts("done");
    return 6;
}
