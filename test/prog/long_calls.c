/* libs: -lpthread */
/* long_calls.c: wait in a system call whose result a stop may change.
 *
 *   long_calls recv    receives 2000 bytes with MSG_WAITALL; 1000 have arrived
 *   long_calls write   writes a MiB into a pipe
 *   long_calls send    sends a MiB through a socket
 *   long_calls readv   reads by readv from a socket with a timeout of 100 s
 *   long_calls ring    waits for an event of io_uring, or says "none" where that is forbidden
 *
 * Prints "ready". Another thread completes the call when a line arrives or, with a second argument,
 * after half a second. Then main() prints the call's result and errno, and waits for the end of the
 * input. It keeps a block of 48 bytes. */
#include <errno.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PART_BYTES = 1000, MUCH_BYTES = 1 << 20, RING_BYTES = 4096 };

static const char *kind;
static int here, there, ring;
static int waits_alone;
static char *volatile kept;

static int
is(const char *name)
{
    return strcmp(kind, name) == 0;
}

/* Submit a request that completes at once. */
static void
complete_ring(const struct io_uring_params *p)
{
    char *queue = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
                       IORING_OFF_SQ_RING);
    struct io_uring_sqe *entry = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
                                      IORING_OFF_SQES);

    entry->opcode = IORING_OP_NOP;
    *(uint32_t *)(void *)(queue + p->sq_off.array) = 0;
    __atomic_store_n((uint32_t *)(void *)(queue + p->sq_off.tail), 1, __ATOMIC_RELEASE);
    syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0);
}

static void *
complete(void *params)
{
    static char buffer[MUCH_BYTES];
    char line[16];
    ssize_t got = 1;

    if (waits_alone)
        usleep(500000);
    else
        got = read(0, line, sizeof line);
    if (is("ring"))
        complete_ring(params);
    else if (is("recv") || is("readv"))
        got = send(there, buffer, PART_BYTES, MSG_NOSIGNAL);
    else
        for (size_t done = 0; got > 0 && done < MUCH_BYTES; done += (size_t)got)
            got = read(there, buffer, sizeof buffer);
    return NULL;
}

static long
call(void)
{
    static char buffer[MUCH_BYTES];
    struct iovec vector = {buffer, PART_BYTES};

    if (is("recv"))
        return recv(here, buffer, 2 * PART_BYTES, MSG_WAITALL);
    if (is("readv"))
        return readv(here, &vector, 1);
    if (is("write"))
        return write(here, buffer, MUCH_BYTES);
    if (is("send"))
        return send(here, buffer, MUCH_BYTES, 0);
    return syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

int
main(int argc, char **argv)
{
    struct io_uring_params params = {0};
    struct timeval limit = {100, 0};
    pthread_t thread;
    static char part[PART_BYTES];
    int ends[2];
    long result;

    if (argc < 2)
        return 2;
    kind = argv[1];
    waits_alone = argc > 2;
    kept = malloc(48);
    if (is("write") ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 1;
    there = ends[0];
    here = ends[1];
    ring = is("ring") ? (int)syscall(SYS_io_uring_setup, 1, &params) : 0;
    if (ring < 0) {
        puts("none");
        return 0;
    }
    if (is("recv") && write(there, part, PART_BYTES) != PART_BYTES)
        return 1;
    setsockopt(here, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    pthread_create(&thread, NULL, complete, &params);
    puts("ready");
    fflush(stdout);
    errno = 0;
    result = call();
    printf("%ld %d\n", result, errno);
    fflush(stdout);
    close(here);
    pthread_join(thread, NULL);
    while (read(0, part, sizeof part) > 0)
        ;
    return kept == NULL;
}
