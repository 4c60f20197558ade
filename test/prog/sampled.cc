/* cflags: -O1 -std=c++17 -fno-builtin */
/* libs: -lpthread */
/* sampled.cc: known amounts from every kind of allocation, for recorders that sample.
 *
 *     function   allocations    bytes  live at end
 *     small            40000  1920000       480000   malloc(48), every fourth kept
 *     zeroed            5000  1500000            0   calloc(10, 30)
 *     aligned           3000   960000            0   aligned_alloc(64, 320)
 *     created          20000  2000000            0   operator new(100)
 *     created_odd       4000   800000            0   operator new(200, align 64)
 *     grown             1800  1890000            0   300 chains of realloc: 100, 200, ..., 3200
 *     shrunk            2000  1900000            0   malloc(1000), realloc to 900 in its place
 *     large               20 20971520            0   malloc(1 MiB)
 *     rare                 5      320          320   malloc(64), kept
 *     in_thread        20000  5120000            0   malloc(256) in four threads
 *
 * sampled sites       all of these
 * sampled phases      four functions, first to fourth, allocate 100 bytes each time, kept: 1000,
 *                     20000, 3000 and 1000 times. Before each the program allocates and frees, in
 *                     pump, until there is a line on its standard input, and after each it prints
 *                     the function's name; then everything is freed in drop.
 * sampled clock S     early: 1000 times malloc(100), kept; pump for S seconds; late: the same
 * sampled forks       in_child: 20000 times malloc(100), freed, in a child
 * sampled builds      built: 20000 times malloc(100), kept, and nothing else
 * sampled middle      middle: 20000 times operator new(200000), deleted, and nothing else
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OWN extern "C" __attribute__((noinline, noclone))

static void *volatile kept[65536];
static int kept_count;

static void
keep(void *p)
{
    kept[kept_count++] = p;
}

OWN void
small()
{
    for (int i = 0; i < 40000; i++) {
        void *volatile p = malloc(48);

        if (i % 4 == 0)
            keep(p);
        else
            free(p);
    }
}

OWN void
zeroed()
{
    for (int i = 0; i < 5000; i++)
        free(calloc(10, 30));
}

OWN void
aligned()
{
    for (int i = 0; i < 3000; i++)
        free(aligned_alloc(64, 320));
}

OWN void
created()
{
    for (int i = 0; i < 20000; i++)
        operator delete(operator new(100));
}

OWN void
created_odd()
{
    for (int i = 0; i < 4000; i++)
        operator delete(operator new(200, std::align_val_t(64)), std::align_val_t(64));
}

OWN void
grown()
{
    for (int i = 0; i < 300; i++) {
        void *p = NULL;

        for (size_t size = 100; size <= 3200; size *= 2)
            p = realloc(p, size);
        free(p);
    }
}

OWN void
shrunk()
{
    for (int i = 0; i < 1000; i++)
        free(realloc(malloc(1000), 900));
}

OWN void
large()
{
    for (int i = 0; i < 20; i++)
        free(malloc(1 << 20));
}

OWN void
rare()
{
    for (int i = 0; i < 5; i++)
        keep(malloc(64));
}

OWN void *
in_thread(void *unused)
{
    for (int i = 0; i < 5000; i++)
        free(malloc(256));
    return unused;
}

static int
sites()
{
    pthread_t threads[4];

    small();
    zeroed();
    aligned();
    created();
    created_odd();
    grown();
    shrunk();
    large();
    rare();
    for (pthread_t &t : threads)
        pthread_create(&t, NULL, in_thread, NULL);
    for (pthread_t &t : threads)
        pthread_join(t, NULL);
    return 0;
}

OWN void
pump()
{
    for (int i = 0; i < 600; i++)
        free(malloc(64));
}

static void
keep_many(int count)
{
    for (int i = 0; i < count; i++)
        keep(malloc(100));
}

OWN void
first()
{
    keep_many(1000);
    __asm__ volatile("# first");
}

OWN void
second()
{
    keep_many(20000);
    __asm__ volatile("# second");
}

OWN void
third()
{
    keep_many(3000);
    __asm__ volatile("# third");
}

OWN void
fourth()
{
    keep_many(1000);
    __asm__ volatile("# fourth");
}

OWN void
drop()
{
    while (kept_count > 0)
        free(kept[--kept_count]);
}

static void
pump_until_told()
{
    struct pollfd in = {0, POLLIN, 0};
    char c = 0;

    while (poll(&in, 1, 1) == 0)
        pump();
    while (c != '\n' && read(0, &c, 1) == 1)
        continue;
}

static int
phases()
{
    static const struct {
        void (*run)();
        const char *name;
    } all[] = {{first, "first\n"}, {second, "second\n"}, {third, "third\n"}, {fourth, "fourth\n"}};

    for (const auto &phase : all) {
        pump_until_told();
        phase.run();
        if (write(1, phase.name, strlen(phase.name)) < 0)
            return 1;
    }
    drop();
    return 0;
}

OWN void
early()
{
    keep_many(1000);
    __asm__ volatile("# early");
}

OWN void
late()
{
    keep_many(1000);
    __asm__ volatile("# late");
}

static double
now()
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int
by_the_clock(double seconds)
{
    double end = now() + seconds;

    early();
    while (now() < end) {
        pump();
        usleep(1000);
    }
    late();
    return 0;
}

OWN void
in_child()
{
    for (int i = 0; i < 20000; i++)
        free(malloc(100));
}

static int
forks()
{
    int status = 0;
    pid_t pid;

    small();
    pid = fork();
    if (pid == 0) {
        in_child();
        exit(0);
    }
    return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
}

OWN void
built()
{
    for (int i = 0; i < 20000; i++)
        kept[kept_count++] = malloc(100);
}

static int
builds()
{
    built();
    return 0;
}

OWN void
middle()
{
    for (int i = 0; i < 20000; i++)
        operator delete(operator new(200000));
}

int
main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "sites";

    if (strcmp(what, "phases") == 0)
        return phases();
    if (strcmp(what, "clock") == 0)
        return by_the_clock(argc > 2 ? atof(argv[2]) : 1);
    if (strcmp(what, "builds") == 0)
        return builds();
    if (strcmp(what, "middle") == 0) {
        middle();
        return 0;
    }
    return strcmp(what, "forks") == 0 ? forks() : sites();
}
