/* limits_itself.c: limit the address space after the first block, and then use some of it.
 *
 *     limits_itself FUNCTION MIB     sets the limit by setrlimit, setrlimit64, prlimit or prlimit64
 *     limits_itself vfork MIB        a child of vfork limits itself. It shares this process's
 *                                    memory but not its limits, so this process is not limited
 *     limits_itself threads MIB      sets the limit while four threads allocate at different stacks
 *
 *     limits_itself pieces WHICH MIB HOW
 *                                    prints how many of 40 pieces it then gets. WHICH is AS or
 *                                    DATA. HOW is libc, raw (a system call), child (another
 *                                    process sets the limit), forked (a forked child does all this,
 *                                    by a system call) or grown (like forked, after the parent has
 *                                    had blocks in GROWN spans of 16 MiB; the first piece is the
 *                                    child's first block)
 *
 *     limits_itself stack MIB        sets the limit by a system call, allocates for 20 ms and uses
 *                                    4 MiB of the stack
 *
 *     limits_itself fork MIB         limits itself and forks. The child maps memory wherever there
 *                                    is room, limits itself to half as much, and uses that memory
 *
 *     limits_itself full MIB         sets the limit by setrlimit, allocates up to MOST_FULL blocks
 *                                    of 1 MiB, frees them, lets TINY_THREADS threads with a block
 *                                    each exist at once, and prints how many blocks it got
 *
 * In the other cases, the program allocates 64 blocks of 1 MiB, runs a thread and uses 4 MiB of the
 * stack. It prints "done" and exits with 7. */
/* libs: -lpthread */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS = 64, BLOCK_BYTES = 1 << 20, STACK_BYTES = 4 << 20, THREADS = 4 };
enum { MAPPINGS = 256, MAPPING_BYTES = 1 << 20 };
enum { GROWN = 30, GROWN_BYTES = 17 << 20 };
enum { MOST_FULL = 3000, TINY_THREADS = 16 };
enum { PIECES = 40, PIECE_BYTES = 512 << 10 };

static int over;

static int
limit(const char *function, rlim_t bytes)
{
    struct rlimit l = {bytes, RLIM_INFINITY};
    struct rlimit64 l64 = {bytes, RLIM64_INFINITY};

    if (strcmp(function, "setrlimit64") == 0)
        return setrlimit64(RLIMIT_AS, &l64);
    if (strcmp(function, "prlimit") == 0)
        return prlimit(0, RLIMIT_AS, &l, NULL);
    if (strcmp(function, "prlimit64") == 0)
        return prlimit64(getpid(), RLIMIT_AS, &l64, NULL);
    return setrlimit(RLIMIT_AS, &l);
}

static unsigned long
address_space_pages(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f == NULL || fscanf(f, "%lu", &pages) != 1)
        abort();
    fclose(f);
    return pages;
}

static void
limit_child(rlim_t bytes)
{
    unsigned long before = address_space_pages(), after;
    int status;
    pid_t child = vfork();

    if (child == 0)
        _exit(limit("setrlimit", bytes) != 0);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        abort();
    after = address_space_pages();
    if (after + 256 < before) // Smaller by more than a mebibyte.
        printf("%lu pages before, %lu after\n", before, after);
}

static void *__attribute__((noinline))
descend(void *levels)
{
    // An integer, because pointer arithmetic must not yield NULL.
    uintptr_t left = (uintptr_t)levels;
    void *volatile p = malloc(50);

    free(p);
    return left == 0 ? NULL : descend((void *)(left - 1));
}

static void *
work(void *unused)
{
    for (uintptr_t i = 0; !__atomic_load_n(&over, __ATOMIC_RELAXED); i++)
        descend((void *)(i % 200));
    return unused;
}

static void __attribute__((noinline))
use_stack(void)
{
    volatile char bytes[STACK_BYTES];

    for (size_t i = 0; i < sizeof bytes; i += 4096)
        bytes[sizeof bytes - 1 - i] = 1;
}

static int
stack_after(rlim_t bytes)
{
    struct rlimit l = {bytes, RLIM_INFINITY};
    clock_t end = clock() + CLOCKS_PER_SEC / 50;

    if (syscall(SYS_prlimit64, 0, RLIMIT_AS, &l, NULL) != 0)
        return 3;
    while (clock() < end) {
        void *volatile p = malloc(100);

        free(p);
    }
    use_stack();
    puts("done");
    return 7;
}

static int
limit_by(const char *how, int resource, const struct rlimit *l)
{
    enum __rlimit_resource name = (enum __rlimit_resource)resource;
    int status = -1;

    if (strcmp(how, "raw") == 0)
        return (int)syscall(SYS_prlimit64, 0, resource, l, NULL);
    if (strcmp(how, "child") != 0)
        return setrlimit(name, l);
    if (fork() == 0)
        _exit(prlimit(getppid(), name, l, NULL) != 0);
    wait(&status);
    return status;
}

static void
grow(void)
{
    static void *blocks[GROWN];

    for (int i = 0; i < GROWN; i++)
        blocks[i] = malloc(GROWN_BYTES);
    for (int i = 0; i < GROWN; i++)
        free(blocks[i]);
}

static int
pieces(const char *which, rlim_t bytes, const char *how)
{
    struct rlimit l = {bytes, RLIM_INFINITY};
    int grown = strcmp(how, "grown") == 0, count = 0;

    if (grown)
        grow();
    if (grown || strcmp(how, "forked") == 0) {
        if (fork() != 0) {
            wait(NULL);
            return 0;
        }
        how = "raw";
    }
    if (limit_by(how, strcmp(which, "AS") == 0 ? RLIMIT_AS : RLIMIT_DATA, &l) != 0)
        return 3;
    // This block succeeds, so that a forked child tries to start recording.
    if (!grown) {
        void *volatile small = malloc(10);

        free(small);
    }
    for (int i = 0; i < PIECES; i++) {
        void *volatile p = malloc(PIECE_BYTES);

        count += p != NULL;
    }
    dprintf(1, "%d of %d\n", count, PIECES);
    return 0;
}

static int
map_and_limit(rlim_t bytes)
{
    static char *mappings[MAPPINGS];
    void *volatile first = malloc(100);

    for (int i = 0; i < MAPPINGS; i++) {
        mappings[i] = mmap(NULL, MAPPING_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mappings[i] == MAP_FAILED)
            return 4;
    }
    if (limit("setrlimit", bytes) != 0)
        return 3;
    for (int i = 0; i < MAPPINGS; i++)
        mappings[i][MAPPING_BYTES / 2] = 1;
    free(first);
    return 0;
}

static int
forked(rlim_t bytes)
{
    int status = 0;
    pid_t child;

    if (limit("setrlimit", bytes) != 0 || (child = fork()) < 0)
        return 3;
    if (child == 0)
        _exit(map_and_limit(bytes / 2));
    waitpid(child, &status, 0);
    printf("child %d\n", status);
    return 0;
}

static void *
take_tiny(void *barrier)
{
    void *volatile p = malloc(10);

    free(p);
    pthread_barrier_wait(barrier);
    return NULL;
}

static int
full(rlim_t bytes)
{
    static void *blocks[MOST_FULL];
    pthread_t threads[TINY_THREADS];
    pthread_barrier_t barrier;
    int count = 0;

    if (limit("setrlimit", bytes) != 0)
        return 3;
    while (count < MOST_FULL && (blocks[count] = malloc(BLOCK_BYTES)) != NULL)
        count++;
    for (int i = 0; i < count; i++)
        free(blocks[i]);
    pthread_barrier_init(&barrier, NULL, TINY_THREADS);
    for (int i = 0; i < TINY_THREADS; i++)
        if (pthread_create(&threads[i], NULL, take_tiny, &barrier) != 0)
            _exit(4);
    for (int i = 0; i < TINY_THREADS; i++)
        pthread_join(threads[i], NULL);
    dprintf(1, "%d\n", count);
    return 0;
}

int
main(int argc, char **argv)
{
    rlim_t bytes = argc > 2 ? (rlim_t)atol(argv[2]) << 20 : 0;
    void *volatile first = malloc(1);
    pthread_t threads[THREADS], last;
    int count = argc > 1 && strcmp(argv[1], "threads") == 0 ? THREADS : 0;

    if (argc > 4)
        return pieces(argv[2], (rlim_t)atol(argv[3]) << 20, argv[4]);

    if (argc > 2 && strcmp(argv[1], "fork") == 0)
        return forked(bytes);
    if (argc > 2 && strcmp(argv[1], "full") == 0)
        return full(bytes);
    if (argc > 2 && strcmp(argv[1], "stack") == 0)
        return stack_after(bytes);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 2;
    if (count != 0)
        usleep(20000);
    if (argc > 1 && strcmp(argv[1], "vfork") == 0)
        limit_child(bytes);
    else if (argc < 3 || limit(argv[1], bytes) != 0)
        return 3;
    for (int i = 0; i < BLOCKS; i++) {
        char *p = malloc(BLOCK_BYTES);

        if (p == NULL)
            return 4;
        p[BLOCK_BYTES / 2] = 1;
    }
    if (pthread_create(&last, NULL, descend, NULL) != 0 || pthread_join(last, NULL) != 0)
        return 5;
    use_stack();
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    free(first);
    puts("done");
    return 7;
}
