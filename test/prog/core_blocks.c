/* cflags: -fno-builtin -O0 -g */
/* libs: -lpthread */
/* core_blocks.c: a known heap, to be dumped.
 *
 *   core_blocks eight     8 blocks of 128 KiB, one byte more or less, in grow(); says "ready" and
 *                         waits for a line; then one of 1 MiB in add_one(), "ready", and waits
 *   core_blocks threads   two threads keep 1024 blocks of one byte each, in first() and second();
 *                         then it aborts
 *   core_blocks null      follows a null pointer
 *   core_blocks freed     calls a function through a freed block of 64 bytes
 *   core_blocks behind    reads past the end of a block of 128 KiB and more until memory ends
 *   core_blocks unmapped  writes 2 MiB past the start of a freed block of 3 MiB, in unmapped()
 *   core_blocks trimmed   writes into a freed block at the end of a heap that has shrunk, in
 *                         trimmed()
 *   core_blocks illegal   runs an invalid instruction
 *   core_blocks divide    divides by zero
 *   core_blocks trap      runs a breakpoint instruction
 *   core_blocks step      sets the flag that traps after each instruction
 *   core_blocks overflow  writes 40 bytes into a block of 24, in overflow(); then it aborts
 *   core_blocks recursion calls itself without end
 *   core_blocks many      16 threads allocate 1000 blocks of 40 bytes each in work(), and free
 *                         every second one; says "ready" and waits for a line
 *   core_blocks leaks     keeps blocks that can be reached in several ways and some that cannot;
 *                         says "ready" and waits for a line
 *   core_blocks coroutine like leaks, on a stack that is a block of 64 KiB, with which the heap
 *                         begins; a block of 72 bytes is only on main()'s original stack
 *   core_blocks held      has a thread that waits for the child of its vfork, which takes ten
 *                         seconds; another one counts the SIGTRAPs that it sends to itself until a
 *                         line arrives, and prints how many of how many were delivered
 *   core_blocks stacks    three threads allocate from ever new stacks for 300 ms; prints at exit
 *                         the minimum number of blocks allocated
 *   core_blocks growing   says "ready" and keeps a block from a new stack every few microseconds,
 *                         until there is a line
 *   core_blocks calls [N] allocates from ever new stacks for N seconds, 2 by default; prints at
 *                         exit the longest processor time of a call of malloc, in
 *                         microseconds
 *   core_blocks births    allocates in early(), after a second in middle(), in another thread, and
 *                         last in late(), after which this thread makes 7 more; prints a line with
 *                         the address, thread and time of each, then "ready", and waits for a line
 *   core_blocks pool      makes 10 objects of 64 bytes in a heaptap heap; then it aborts
 *   core_blocks chunks    makes a heaptap heap in 3 kept blocks of 1000 bytes, with an object in
 *                         each; then it aborts
 *   core_blocks sizes     keeps blocks of 1 and 24 bytes in small(), of 3000, 4001 and 5000 in
 *                         large(), of 5001 in single(), which has freed one of 9000, and of 777
 *                         five times in equal(); then it aborts
 *   core_blocks child     forks a child that allocates nothing; says "ready" and waits for a line
 *
 * In each case main() keeps a block of 48 bytes first. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "heaptap/heaptap.h"

enum { BIG = 128 << 10, ONES = 1024, WORKERS = 16, WORK_BLOCKS = 1000, STACK_BYTES = 64 << 10 };

static void *kept[4 * ONES];
static size_t kept_count;

static void
wait_for_line(void)
{
    char line[16];

    if (write(1, "ready\n", 6) != 6 || read(0, line, sizeof line) < 0)
        exit(1);
}

static void
keep(void *p)
{
    kept[__atomic_fetch_add(&kept_count, 1, __ATOMIC_RELAXED)] = p;
}

static void
grow(void)
{
    for (int i = 0; i < 8; i++)
        keep(malloc((size_t)(i % 2 ? BIG + 1 : BIG - 1)));
}

static void
add_one(void)
{
    keep(malloc(1 << 20));
}

static void *
first(void *unused)
{
    for (int i = 0; i < ONES; i++)
        keep(malloc(1));
    return unused;
}

static void *
second(void *unused)
{
    for (int i = 0; i < ONES; i++)
        keep(malloc(1));
    return unused;
}

static void
threads(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    abort();
}

static void
use_freed(void)
{
    uint64_t **p = malloc(64);

    keep(malloc(64)); // This block keeps the freed one from merging with the rest of the heap.
    p[4] = (uint64_t *)p;
    free(p);
    // The words left in a freed block point into it, where nothing may be executed.
    ((void (*)(void))(uintptr_t)p[4])();
}

static void
read_behind(void)
{
    volatile char *p = malloc(BIG + 1000);
    char sum = 0;

    for (size_t i = 0;; i++)
        sum = (char)(sum + p[i]);
}

static void
unmapped(void)
{
    char *volatile p = malloc(3 << 20);

    free(p);
    p[2 << 20] = 1;
}

static void
trimmed(void)
{
    char *v[40];

    for (int i = 0; i < 40; i++)
        v[i] = malloc(100000);
    for (int i = 40; i-- > 0;)
        free(v[i]);
    *(char *volatile)v[30] = 1;
}

/* Call a function at an address without code. */
static __attribute__((noinline)) void
jump(void)
{
    void (*volatile f)(void) = (void (*)(void))(uintptr_t)0x40;

    f();
    keep(NULL); // Not a tail call.
}

static void
fault(const char *what)
{
    volatile int zero = 0;

    if (strcmp(what, "illegal") == 0)
        __asm__ volatile("ud2");
    if (strcmp(what, "trap") == 0)
        __asm__ volatile("int3");
    if (strcmp(what, "step") == 0)
        __asm__ volatile("pushf; orl $0x100, (%%rsp); popf; nop" : : : "memory", "cc");
    zero = *what / zero; // gcc compiles 1 / zero without a division.
}

static void
overflow(void)
{
    char *a = malloc(24), *b = malloc(100);

    keep(a);
    keep(b);
    memset(a, 'A', 40);
    abort();
}

static void
small(void)
{
    for (size_t size = 1; size <= 24; size += 23)
        keep(malloc(size));
}

static void
large(void)
{
    static const size_t sizes[] = {3000, 4001, 5000};

    for (int i = 0; i < 3; i++)
        keep(malloc(sizes[i]));
}

static void
single(void)
{
    for (size_t size = 9000;; size = 5001) {
        void *p = malloc(size);

        if (size == 5001) {
            keep(p);
            return;
        }
        free(p);
    }
}

static void
equal(void)
{
    for (int i = 0; i < 5; i++)
        keep(malloc(777));
}

static void
all_sizes(void)
{
    small();
    large();
    single();
    equal();
    abort();
}

static int
recursion(volatile int *deep)
{
    volatile char pad[1000];

    pad[0] = (char)*deep;
    if (++*deep < 0)
        return 0;
    return recursion(deep) + pad[0];
}

struct node {
    struct node *next;
    uint64_t pad[3];
};

static struct node *list;           // Reachable: 10 nodes.
static __thread struct node *local; // A thread-local variable references 1 node.

static struct node *
add_node(struct node *next)
{
    struct node *n = calloc(1, sizeof *n);

    n->next = next;
    return n;
}

static void
lose_list(void)
{
    struct node *lost = NULL;

    for (int i = 0; i < 5; i++) // One block is lost, and so are 4 that can be reached from it.
        lost = add_node(lost);
}

static void
lose_ring(void)
{
    struct node *a = add_node(NULL);

    a->next = add_node(a); // The two nodes are referenced only by each other.
}

static void
lose_one(void)
{
    memset(malloc(1000), 1, 1000);
}

static void
wipe_stack(void)
{
    volatile char wiped[16384];

    for (size_t i = 0; i < sizeof wiped; i++)
        wiped[i] = 0;
}

static void *
work(void *unused)
{
    void *v[WORK_BLOCKS];

    for (int i = 0; i < WORK_BLOCKS; i++)
        v[i] = malloc(40);
    for (int i = 0; i < WORK_BLOCKS; i += 2)
        free(v[i]);
    return unused;
}

static void
many(void)
{
    pthread_t all[WORKERS];

    for (int i = 0; i < WORKERS; i++)
        pthread_create(&all[i], NULL, work, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(all[i], NULL);
    wait_for_line();
}

static void
leaks(void)
{
    char *inside;

    for (int i = 0; i < 10; i++)
        list = add_node(list);
    local = add_node(NULL);
    inside = malloc(500);
    keep(inside + 100); // An interior pointer also keeps a block.
    lose_list();
    lose_ring();
    lose_one();
    wipe_stack();
    wait_for_line();
}

static void
coroutine(void)
{
    static ucontext_t back, there;
    static char *stack;
    char *volatile own = malloc(72);

    stack = calloc(1, STACK_BYTES);
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = STACK_BYTES;
    there.uc_link = &back;
    makecontext(&there, leaks, 0);
    swapcontext(&back, &there);
    free(own);
}

static volatile sig_atomic_t trapped;

static void
count_trap(int number)
{
    (void)number;
    trapped++;
}

static void *
wait_in_vfork(void *unused)
{
    if (vfork() == 0) {
        struct timespec long_time = {.tv_sec = 10};

        nanosleep(&long_time, NULL);
        _exit(0);
    }
    return unused;
}

static void
held(void)
{
    struct pollfd line = {.fd = 0, .events = POLLIN};
    pthread_t waiter;
    int sent = 0;

    signal(SIGTRAP, count_trap);
    pthread_create(&waiter, NULL, wait_in_vfork, NULL);
    if (write(1, "ready\n", 6) != 6)
        exit(1);
    for (; poll(&line, 1, 0) == 0; sent++)
        pthread_kill(pthread_self(), SIGTRAP);
    printf("%d of %d\n", (int)trapped, sent);
    fflush(stdout);
    _exit(0); // The child continues alone.
}

static long made;

static uint64_t
clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool timed, keeps;
static uint64_t longest_ns;

static void
make_one(void)
{
    uint64_t since_ns = timed ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0, took_ns;
    void *p = malloc(16);

    took_ns = timed ? clock_ns(CLOCK_THREAD_CPUTIME_ID) - since_ns : 0;
    longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
    if (!keeps)
        free(p);
}

/* Each value of PATH is a different stack: each bit selects between two calls. */
static void
take_path(unsigned path, int depth)
{
    if (depth == 0)
        make_one();
    else if (path & 1)
        take_path(path >> 1, depth - 1);
    else
        take_path(path >> 1, depth - 1);
}

static void *
take_paths(void *first_path)
{
    for (unsigned path = (unsigned)(uintptr_t)first_path;; path += 0x9e3779b1) {
        take_path(path >> 7, 16);
        __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void
stacks(void)
{
    struct timespec a_while = {.tv_nsec = 300000000};
    pthread_t thread;

    for (uintptr_t i = 0; i < 3; i++)
        pthread_create(&thread, NULL, take_paths, (void *)(i << 20));
    nanosleep(&a_while, NULL);
    printf("%ld\n", __atomic_load_n(&made, __ATOMIC_RELAXED));
    fflush(stdout);
    exit(0);
}

static void
growing(void)
{
    struct timespec moment = {.tv_nsec = 10000};
    struct pollfd line = {.fd = 0, .events = POLLIN};

    keeps = true;
    if (write(1, "ready\n", 6) != 6)
        exit(1);
    for (unsigned path = 0; poll(&line, 1, 0) == 0; path++) {
        take_path(path, 18);
        nanosleep(&moment, NULL);
    }
}

static void
calls(uint64_t seconds)
{
    uint64_t since_ns = clock_ns(CLOCK_MONOTONIC);

    timed = true;
    for (unsigned path = 0; clock_ns(CLOCK_MONOTONIC) - since_ns < seconds * 1000000000;
         path++)
        take_path(path, 18);
    printf("%llu\n", (unsigned long long)(longest_ns / 1000));
}

static void
churn(void)
{
    struct timespec a_while = {.tv_nsec = 10000000};

    for (int i = 0; i < 300; i++)
        free(malloc(100));
    nanosleep(&a_while, NULL);
}

static char told[1024];

/* Keep the block that ALLOCATE returns, and note its address, thread and time for the output. */
static void
tell_birth(const char *who, void *(*allocate)(void))
{
    uint64_t before = clock_ns(CLOCK_REALTIME);
    void *p = allocate();
    size_t used = strlen(told);

    keep(p);
    snprintf(told + used, sizeof told - used, "%s %p %d %llu %llu\n", who, p, (int)gettid(),
             (unsigned long long)before, (unsigned long long)clock_ns(CLOCK_REALTIME));
}

static void *
early(void)
{
    return malloc(1001);
}

static void *
middle(void)
{
    return malloc(1002);
}

static void *
threads_own(void)
{
    return malloc(1003);
}

static void *
late(void)
{
    return malloc(1004);
}

static void *
tell_in_thread(void *unused)
{
    tell_birth("thread", threads_own);
    for (int i = 0; i < 30; i++)
        churn();
    return unused;
}

static void
births(void)
{
    pthread_t thread;

    tell_birth("early", early);
    for (int i = 0; i < 100; i++)
        churn();
    tell_birth("middle", middle);
    for (int i = 0; i < 30; i++)
        churn();
    pthread_create(&thread, NULL, tell_in_thread, NULL);
    pthread_join(thread, NULL);
    tell_birth("late", late);
    for (int i = 0; i < 7; i++)
        keep(malloc(8));
    if (write(1, told, strlen(told)) < 0)
        exit(1);
    wait_for_line();
}

static void
child(void)
{
    pid_t pid = fork();

    while (pid == 0)
        pause();
    wait_for_line();
    kill(pid, SIGKILL);
}

static void
pool(void)
{
    static char memory[10 * 64];
    struct heaptap_heap *heap = heaptap_heap_create("pool", 0);

    for (int i = 0; i < 10; i++)
        heaptap_alloc(heap, memory + 64 * i, 1, 64);
    abort();
}

static void
chunks(void)
{
    struct heaptap_heap *heap = heaptap_heap_create("chunks", 0);

    for (int i = 0; i < 3; i++) {
        char *chunk = malloc(1000);

        heaptap_backing(heap, chunk, 1000);
        heaptap_alloc(heap, chunk, 1, 64);
        keep(chunk);
    }
    abort();
}

int
main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    int deep = 0;

    keep(malloc(48)); // This first block starts the recorder.
    if (strcmp(what, "eight") == 0) {
        grow();
        wait_for_line();
        add_one();
        wait_for_line();
    } else if (strcmp(what, "threads") == 0) {
        threads();
    } else if (strcmp(what, "null") == 0) {
        *(volatile char *)(uintptr_t)0x10 = 1;
    } else if (strcmp(what, "call") == 0) {
        jump();
    } else if (strcmp(what, "sizes") == 0) {
        all_sizes();
    } else if (strcmp(what, "freed") == 0) {
        use_freed();
    } else if (strcmp(what, "behind") == 0) {
        read_behind();
    } else if (strcmp(what, "unmapped") == 0) {
        unmapped();
    } else if (strcmp(what, "trimmed") == 0) {
        trimmed();
    } else if (strcmp(what, "illegal") == 0 || strcmp(what, "divide") == 0 ||
               strcmp(what, "step") == 0 || strcmp(what, "trap") == 0) {
        fault(what);
    } else if (strcmp(what, "overflow") == 0) {
        overflow();
    } else if (strcmp(what, "recursion") == 0) {
        return recursion(&deep);
    } else if (strcmp(what, "many") == 0) {
        many();
    } else if (strcmp(what, "leaks") == 0) {
        leaks();
    } else if (strcmp(what, "coroutine") == 0) {
        coroutine();
    } else if (strcmp(what, "held") == 0) {
        held();
    } else if (strcmp(what, "stacks") == 0) {
        stacks();
    } else if (strcmp(what, "growing") == 0) {
        growing();
    } else if (strcmp(what, "calls") == 0) {
        calls(count > 2 ? strtoull(arguments[2], NULL, 10) : 2);
    } else if (strcmp(what, "births") == 0) {
        births();
    } else if (strcmp(what, "pool") == 0) {
        pool();
    } else if (strcmp(what, "chunks") == 0) {
        chunks();
    } else if (strcmp(what, "child") == 0) {
        child();
    }
    return 0;
}
