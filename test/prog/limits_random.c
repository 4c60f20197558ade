/* libs: -lpthread */
/* cflags: -fno-builtin */
/* limits_random.c: set limits at random moments, and count the memory that can still be allocated.
 *
 *     limits_random SEED [seen]     SEED alone determines its actions; "seen": libc sets all
 *                                   limits on address space, and nobody forks
 *
 * The program limits address space, data, stack, descriptors and the size of files: by libc, by raw
 * system calls, or by a child that limits its parent. In between, it allocates until that fails,
 * uses its stack, runs threads, opens and writes files, and forks. Each line of the output is a
 * number that must be the same when the program is recorded, except for lines "pieces". These have
 * the allocated MiB, the limits, the number of address spans used so far (which determines the
 * ledger's size), and the recorder's memory. After a limit that libc does not set, the program
 * allocates pieces, because the recorder notices the limit when an allocation fails. */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 10, PIECES_MAX = 4096, FILES_MAX = 200, THREADS = 3, MIB = 1 << 20 };
enum { SAMPLED = 20, SAMPLED_BYTES = 64 << 10 };
enum { HEAP_BYTES_MAX = 256 * MIB, SPAN_BITS = 24 };

/* Minimum limit on address space: threads and stacks use a part, and the recorder has fixed costs
 * (failures.md). A limit set from outside applies as well. */
#define ROOMY ((rlim_t)512 << 20)

static uint64_t word;
static int seen;      // True if libc sets all limits on address space, and no process forks.
static int unnoticed; // True if a limit bypassed libc and no allocation has failed since.
static void *pieces[PIECES_MAX];
static rlim_t space, data, space_most, data_most; // RLIM_INFINITY = no limit.
// By span of addresses: 1 if the span was used.
static unsigned char used[(size_t)1 << (47 - SPAN_BITS)];
// Number of spans ever used, including by the parent.
static long spans;

static uint64_t
draw(uint64_t below)
{
    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    return (word >> 11) % below;
}

static void
say(const char *what, long number, const char *more)
{
    char line[200];
    int length = snprintf(line, sizeof line, "%s %ld%s\n", what, number, more);

    if (write(1, line, (size_t)length) != length)
        _exit(90);
}

/* --- Limits ----------------------------------------------------------------------------------- */

static int
by_child(int resource, const struct rlimit *l)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0)
        _exit(prlimit(getppid(), (enum __rlimit_resource)resource, l, NULL) != 0);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return status == 0 ? 0 : -1;
}

/* Return true if libc was bypassed. */
static int
limit(int resource, rlim_t bytes)
{
    struct rlimit l = {bytes, RLIM_INFINITY};
    struct rlimit64 l64 = {bytes, RLIM64_INFINITY};
    enum __rlimit_resource name = (enum __rlimit_resource)resource;
    uint64_t way = draw(7);
    int r;

    if (seen && (resource == RLIMIT_AS || way == 5))
        way %= 3;
    getrlimit(name, &l);
    l.rlim_cur = bytes < l.rlim_max ? bytes : l.rlim_max;
    l64 = (struct rlimit64){l.rlim_cur, l.rlim_max};
    if (way == 0)
        r = setrlimit64(name, &l64);
    else if (way == 1)
        r = prlimit(0, name, &l, NULL);
    else if (way == 2)
        r = prlimit64(getpid(), name, &l64, NULL);
    else if (way == 3)
        r = (int)syscall(SYS_prlimit64, 0, resource, &l, NULL);
    else if (way == 4)
        r = (int)syscall(SYS_setrlimit, resource, &l);
    else if (way == 5)
        r = by_child(resource, &l);
    else
        r = setrlimit(name, &l);
    say("limit", r, "");
    return way >= 3 && way <= 5;
}

/* --- Uses ------------------------------------------------------------------------------------- */

static void *
piece(uint64_t kind, size_t bytes)
{
    void *p = NULL;

    switch (kind) {
    case 0:
        return calloc(1, bytes);
    case 1:
        return realloc(NULL, bytes);
    case 2:
        return posix_memalign(&p, 64, bytes) == 0 ? p : NULL;
    case 3:
        return realloc(malloc(10), bytes);
    case 4:
        return aligned_alloc(4096, bytes);
    case 5:
        return reallocarray(NULL, 1, bytes);
    default:
        return malloc(bytes);
    }
}

/* The recorder's share of this process's memory, in MiB: its address space, the inaccessible part
 * of that, and the bytes that RLIMIT_DATA counts. */
struct tables {
    long mapped, spare, data;
};

/* Only the recorder advises against huge pages, and against inheriting mappings. */
static struct tables
measure(void)
{
    static char text[4 * MIB];
    struct tables t = {0};
    int fd = open("/proc/self/smaps", O_RDONLY);
    unsigned long start = 0, end = 0;
    size_t length = 0;
    char access[8] = "";
    long n;

    while ((n = read(fd, text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)n;
    close(fd);
    text[length] = '\0';
    for (char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "VmFlags:", 8) != 0) {
            char these[8];
            unsigned long from, to;

            if (sscanf(line, "%lx-%lx %7s", &from, &to, these) == 3) {
                start = from;
                end = to;
                memcpy(access, these, sizeof access);
            }
            continue;
        }
        char *flags_end = strchr(line, '\n');
        *flags_end = '\0';
        if (strstr(line, " nh") != NULL || strstr(line, " dc") != NULL) {
            t.mapped += (long)(end - start);
            t.spare += access[0] == '-' ? (long)(end - start) : 0;
            t.data += access[1] == 'w' && access[3] == 'p' && strstr(line, " gd") == NULL
                          ? (long)(end - start)
                          : 0;
        }
        *flags_end = '\n';
    }
    return (struct tables){t.mapped / MIB, t.spare / MIB, t.data / MIB};
}

/* Write to a piece, and count the spans of addresses that it is the first to use. */
static void
note(void *p, size_t bytes)
{
    *(volatile char *)p = 1;
    for (uintptr_t s = (uintptr_t)p >> SPAN_BITS; s <= ((uintptr_t)p + bytes) >> SPAN_BITS; s++) {
        spans += !used[s];
        used[s] = 1;
    }
}

/* Allocate until an allocation fails or all pieces exist, and free them. */
static void
use_heap(const char *more)
{
    uint64_t kind = draw(10);
    size_t bytes = (size_t)(1 + draw(16)) * 64 << 10;
    long count = 0;
    struct tables t;
    char text[160];

    while (count < PIECES_MAX && (size_t)count * bytes < HEAP_BYTES_MAX &&
           (pieces[count] = piece(kind, bytes)) != NULL)
        note(pieces[count++], bytes);
    t = measure();
    for (long i = 0; i < count; i++)
        free(pieces[i]);
    snprintf(text, sizeof text, " AS %ld DATA %ld%s spans %ld tables %ld spare %ld data %ld",
             space == RLIM_INFINITY ? -1 : (long)(space / MIB),
             data == RLIM_INFINITY ? -1 : (long)(data / MIB), more, spans, t.mapped,
             t.spare, t.data);
    say("pieces", (long)(count * (long)bytes / MIB), text);
}

/* Wait for GO before the thread allocates and again before it ends; post DONE in between. */
struct turn {
    sem_t go, done;
};

static void *
work(void *turn)
{
    struct turn *t = turn;
    long got = 0;

    sem_wait(&t->go);
    for (int i = 0; i < 300; i++) {
        void *volatile p = malloc((size_t)i * 7);

        got += p != NULL;
        free(p);
    }
    sem_post(&t->done);
    sem_wait(&t->go);
    return (void *)got;
}

/* All threads exist at once but allocate in turn. Otherwise, their order would decide which small
 * block ends up above the pieces, and so whether the heap shrinks when the pieces are freed. */
static void
use_threads(void)
{
    pthread_t t[THREADS];
    struct turn turns[THREADS];
    pthread_attr_t small;
    long sum = 0;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, MIB);
    for (int i = 0; i < THREADS; i++) {
        sem_init(&turns[i].go, 0, 0);
        sem_init(&turns[i].done, 0, 0);
        if (pthread_create(&t[i], &small, work, &turns[i]) != 0)
            _exit(91);
    }
    for (int i = 0; i < THREADS; i++) {
        sem_post(&turns[i].go);
        sem_wait(&turns[i].done);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;

        sem_post(&turns[i].go);
        pthread_join(t[i], &result);
        sum += (long)result;
    }
    say("threads", sum, "");
}

static void __attribute__((noinline))
use_stack(size_t bytes)
{
    volatile char some[4096];

    some[0] = 1;
    some[4095] = 1;
    if (bytes > sizeof some)
        use_stack(bytes - sizeof some);
    else
        free(malloc(20));
    some[1] = some[0];
}

static void
use_descriptors(void)
{
    int opened[FILES_MAX], count = 0;

    while (count < FILES_MAX && (opened[count] = open("/dev/null", O_RDONLY)) >= 0)
        count++;
    free(malloc(100));
    for (int i = 0; i < count; i++)
        close(opened[i]);
    say("descriptors", count, "");
}

static void
use_file(void)
{
    static char bytes[8192];
    char name[] = "limited.XXXXXX";
    int fd = mkstemp(name);
    long sum = 0;

    signal(SIGXFSZ, SIG_IGN);
    unlink(name);
    for (int i = 0; i < 100; i++) {
        long n = write(fd, bytes, sizeof bytes);

        sum += n > 0 ? n : 0;
        free(malloc((size_t)i * 30));
    }
    close(fd);
    signal(SIGXFSZ, SIG_DFL);
    say("written", sum, "");
}

/* --- Steps ------------------------------------------------------------------------------------ */

static rlim_t
size_of_space(rlim_t most)
{
    rlim_t size = (rlim_t)(draw(3) != 0 ? 40 + draw(400) : 512 + draw(3000)) << 20;

    return size < most ? size : most;
}

static void step(int depth);

static void
use_child(int depth)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0) {
        memset(used, 0, sizeof used);
        for (int i = 0; i < 4; i++)
            step(depth + 1);
        if (draw(4) == 0)
            raise(draw(2) ? SIGBUS : SIGTERM);
        _exit((int)draw(100));
    }
    word = word * 6364136223846793005u + 1;
    if (waitpid(child, &status, 0) == child)
        say("child", status, "");
}

static int
is_roomy(void)
{
    return space >= ROOMY && data >= ROOMY && !unnoticed;
}

static void
step(int depth)
{
    switch (draw(12)) {
    case 0:
    case 1:
        space = size_of_space(space_most);
        unnoticed = limit(RLIMIT_AS, space);
        if (unnoticed)
            use_heap(" unseen");
        break;
    case 2:
    case 3:
        data = size_of_space(data_most);
        if (limit(RLIMIT_DATA, data))
            use_heap(" unseen");
        break;
    case 4: {
        rlim_t stack = (rlim_t)(1 + draw(15)) << 20;

        limit(RLIMIT_STACK, stack);
        if (is_roomy())
            use_stack(stack / 2);
        break;
    }
    case 5:
        limit(RLIMIT_NOFILE, 10 + draw(100));
        use_descriptors();
        break;
    case 6:
        limit(RLIMIT_FSIZE, draw(600) << 10);
        use_file();
        break;
    case 7:
        if (is_roomy())
            use_threads();
        break;
    case 8:
        if (depth == 0 && is_roomy() && !seen)
            use_child(depth);
        break;
    default:
        use_heap("");
    }
}

int
main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    struct rlimit outer;

    word = seed * 0x9e3779b97f4a7c15u + 88172645463325252u;
    seen = argc > 2;
    // Use one arena, because the number of threads that want one at once depends on timing. Merge
    // freed blocks at once: otherwise one kept block keeps the heap below it, and block sizes
    // decide which.
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MXFAST, 0);
    getrlimit(RLIMIT_AS, &outer);
    space = space_most = outer.rlim_max;
    getrlimit(RLIMIT_DATA, &outer);
    data = data_most = outer.rlim_max;
    for (int i = 0; i < 5; i++)
        draw(2);
    if (draw(3) != 0)
        free(malloc(10));
    // A sampled run is thereby recorded from here on: no start of recording under a limit is tested
    // here.
    for (int i = 0; seen && i < SAMPLED; i++)
        free(malloc(SAMPLED_BYTES));
    for (int i = 0; i < STEPS; i++)
        step(0);
    if (draw(8) == 0)
        raise(draw(2) ? SIGBUS : SIGUSR2);
    return (int)draw(90);
}
