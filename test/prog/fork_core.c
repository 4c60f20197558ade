/* cflags: -fno-builtin -O0 -g */
/* libs: -lpthread */
/* fork_core.c: build random heaps across forks, known by construction.
 *
 *   fork_core SEED TRUTH dump|wait
 *
 * A process allocates, frees and resizes blocks at random, and forks a child that continues with
 * the inherited blocks, to a depth of 1 to 3. Some children allocate nothing. The last child writes
 * the file TRUTH and then aborts, or waits to be killed. TRUTH has a line for each live block:
 *
 *   ADDRESS SIZE DEPTH KIND      DEPTH 0: of the first process; KIND: "kept" or "lost"
 *
 * and at its end "own DEPTH", the depth of the process, or "threads N", the number of threads that
 * had run. A lost block is referenced only by its address xor HIDDEN. A kept block is referenced by
 * a table, or by the first word of another kept block. */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 600, OPERATIONS = 400, THREADS_MAX = 3, LINE_BYTES = 128 };

#define HIDDEN UINT64_C(0x5a5a5a5a5a5a5a5a)

#define ZERO(n) "pxor %xmm" #n ", %xmm" #n "\n"
#define ZERO_HIGH(n) "vpxorq %zmm" #n ", %zmm" #n ", %zmm" #n "\n"

struct slot {
    uint64_t hidden; // Address xor HIDDEN; 0 = no block.
    size_t bytes;
    int depth, holder; // Slot whose block contains the address; -1 = the table, -2 = none.
    bool holds;
};

static struct slot slots[SLOTS];
static void *table[SLOTS];
static uint64_t seed;
static int depth, threads;

static uint32_t
draw(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

static void *
address(int i)
{
    return (void *)(uintptr_t)(slots[i].hidden ^ HIDDEN);
}

static size_t
draw_size(void)
{
    switch (draw(20)) {
    case 0:
        return draw(400 << 10);
    case 1:
    case 2:
        return draw(9000);
    case 3:
        return 640; // The size of glibc's thread cache.
    default:
        return draw(300);
    }
}

static void *
make(size_t bytes)
{
    void *p = NULL;

    switch (draw(8)) {
    case 0:
        if (posix_memalign(&p, (size_t)16 << draw(10), bytes) != 0)
            abort();
        return p;
    case 1:
        return calloc(1, bytes);
    default:
        return malloc(bytes);
    }
}

static void
take(int i, void *p, size_t bytes)
{
    memset(p, 0, malloc_usable_size(p)); // Remove remains of other pointers.
    slots[i] = (struct slot){(uintptr_t)p ^ HIDDEN, bytes, depth, -1, false};
    table[i] = p;
}

/* Remove block I's address from its holder. */
static void
unhold(int i)
{
    int holder = slots[i].holder;

    table[i] = NULL;
    if (holder >= 0) {
        memset(address(holder), 0, sizeof(void *));
        slots[holder].holds = false;
    }
    slots[i].holder = -2;
}

/* Hide block I, or keep it in another block. */
static void
rehold(int i)
{
    int other = (int)draw(SLOTS);
    void *p = address(i);

    if (slots[i].holds)
        return;
    unhold(i);
    if (draw(3) == 0)
        return;
    if (other != i && slots[other].hidden != 0 && slots[other].bytes >= sizeof p &&
        !slots[other].holds && slots[other].holder == -1) {
        memcpy(address(other), &p, sizeof p);
        slots[other].holds = true;
        slots[i].holder = other;
        return;
    }
    table[i] = p;
    slots[i].holder = -1;
}

static void
operate(void)
{
    int i = (int)draw(SLOTS);

    if (slots[i].hidden == 0) {
        size_t bytes = draw_size();

        take(i, make(bytes), bytes);
    } else if (slots[i].holds) {
        return;
    } else if (draw(4) == 0) {
        size_t bytes = draw_size() + 1;

        unhold(i);
        take(i, realloc(address(i), bytes), bytes);
    } else if (draw(2) == 0) {
        unhold(i);
        free(address(i));
        slots[i].hidden = 0;
    } else {
        rehold(i);
    }
}

/* Overwrite remains of earlier calls on the stack and in vector registers, which libc uses to copy
 * blocks. */
static void
clear(void)
{
    volatile char bytes[64 << 10];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0;
    if (__builtin_cpu_supports("avx512f"))
        __asm__ volatile(ZERO_HIGH(16) ZERO_HIGH(17) ZERO_HIGH(18) ZERO_HIGH(19) ZERO_HIGH(20)
                         ZERO_HIGH(21) ZERO_HIGH(22) ZERO_HIGH(23) ZERO_HIGH(24) ZERO_HIGH(25)
                         ZERO_HIGH(26) ZERO_HIGH(27) ZERO_HIGH(28) ZERO_HIGH(29) ZERO_HIGH(30)
                         ZERO_HIGH(31));
    if (__builtin_cpu_supports("avx"))
        __asm__ volatile("vzeroall");
    else
        __asm__ volatile(ZERO(0) ZERO(1) ZERO(2) ZERO(3) ZERO(4) ZERO(5) ZERO(6) ZERO(7) ZERO(8)
                         ZERO(9) ZERO(10) ZERO(11) ZERO(12) ZERO(13) ZERO(14) ZERO(15));
}

static void
operate_often(void)
{
    for (uint32_t n = draw(OPERATIONS); n > 0; n--)
        operate();
}

static void *
operate_and_clear(void *unused)
{
    operate_often();
    clear();
    return unused;
}

/* The main thread waits for the other, so that the order is known. */
static void
operate_in_thread(void)
{
    pthread_t t;

    if (pthread_create(&t, NULL, operate_and_clear, NULL) != 0)
        abort();
    pthread_join(t, NULL);
    threads++;
}

static bool
is_kept(int i)
{
    while (slots[i].holder >= 0)
        i = slots[i].holder;
    return slots[i].holder == -1;
}

static void
put(int fd, const char *line)
{
    if (write(fd, line, strlen(line)) < 0)
        _exit(1);
}

static void
write_truth(const char *path)
{
    char line[LINE_BYTES], made[LINE_BYTES];
    int fd;

    snprintf(made, sizeof made, "%s.made", path);
    fd = open(made, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].hidden != 0) {
            snprintf(line, sizeof line, "%llx %zu %d %s\n",
                     (unsigned long long)(slots[i].hidden ^ HIDDEN), slots[i].bytes,
                     slots[i].depth, is_kept(i) ? "kept" : "lost");
            put(fd, line);
        }
    snprintf(line, sizeof line, "own %d\nthreads %d\npid %d\n", depth, threads, (int)getpid());
    put(fd, line);
    close(fd);
    rename(made, path);
}

static pid_t
fork_somehow(void)
{
    pid_t other;

    switch (draw(4)) {
    case 0:
        return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    case 1:
        other = vfork();
        if (other == 0)
            _exit(0);
        waitpid(other, NULL, 0);
        return fork();
    default:
        return fork();
    }
}

int
main(int count, char **arguments)
{
    int forks, status;

    if (count != 4)
        return 2;
    seed = strtoull(arguments[1], NULL, 10) * 2654435761u + 1;
    draw(2);
    forks = 1 + (int)draw(3);
    for (;;) {
        bool silent = depth > 0 && draw(4) == 0;

        if (!silent && threads < THREADS_MAX && draw(4) == 0)
            operate_in_thread();
        if (!silent)
            operate_often();
        if (depth == forks)
            break;
        if (fork_somehow() != 0) {
            wait(&status);
            return 0;
        }
        depth++;
    }
    clear();
    write_truth(arguments[2]);
    clear();
    if (strcmp(arguments[3], "dump") == 0)
        abort();
    for (;;)
        pause();
}
