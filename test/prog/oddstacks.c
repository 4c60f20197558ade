/* cflags: -fno-builtin -fno-optimize-sibling-calls */
/* libs: -lpthread */
/* oddstacks.c: allocate on stacks of every kind. Blocks have 10 bytes and are kept.
 *
 *     arena     3 rounds of 1000 coroutines run in one arena: 5 blocks each in `co_step`
 *     overflow  the stack overflows 20 times. A handler on an alternate stack allocates 20 blocks
 *               in `on_overflow` and jumps out; then `go_on` allocates 20 blocks of 11 bytes
 *     dies      the stack overflows without a handler: SIGSEGV
 *     switched  main continues on a stack from malloc: 100 blocks in `elsewhere`
 *     raised    the limit of the stack is raised, and 20 MiB of the stack are used: 100 blocks in
 *               `bottom`; then a child's thread allocates 100 in `in_thread`
 *     crossing  one thread begins a coroutine, and another resumes it: 100 blocks in `co_cross`
 *     pieces    4 threads run on pieces of one mapping and switch to other pieces of it: 4 * 100
 *               blocks in `on_piece`, 4 * 100 in `on_other_piece`
 *     inside    the stack of a handler is an array on the main stack: 100 blocks in `on_usr1`,
 *               100 in `plain` */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    ROUNDS = 3,
    COROUTINES = 1000,
    STEPS = 5,
    CO_BYTES = 16384,
    OVERFLOWS = 20,
    TIMES = 100,
    PIECES = 4,
    PIECE_BYTES = 1 << 18,
    DEEP_BYTES = 20 << 20,
    FRAME_BYTES = 8192,
};

static void *volatile kept;
static ucontext_t main_context, contexts[COROUTINES];
static sigjmp_buf out;
static char signal_stack[1 << 16];

static void
prepare(ucontext_t *c, void *stack, size_t size_bytes, void (*function)(void))
{
    getcontext(c);
    c->uc_stack.ss_sp = stack;
    c->uc_stack.ss_size = size_bytes;
    c->uc_link = &main_context;
    makecontext(c, function, 0);
}

/* arena */

static int current;

__attribute__((noinline)) static void
co_step(void)
{
    kept = malloc(10);
    __asm__ volatile("" : : : "memory");
}

static void
coroutine(void)
{
    for (int i = 0; i < STEPS; i++) {
        co_step();
        swapcontext(&contexts[current], &main_context);
    }
}

static void
arena(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        char *memory = malloc((size_t)COROUTINES * CO_BYTES);

        for (int i = 0; i < COROUTINES; i++)
            prepare(&contexts[i], memory + (size_t)i * CO_BYTES, CO_BYTES, coroutine);
        for (int step = 0; step < STEPS; step++)
            for (current = 0; current < COROUTINES; current++)
                swapcontext(&main_context, &contexts[current]);
        free(memory);
    }
}

/* overflow, dies */

__attribute__((noinline)) static void
on_overflow(int number)
{
    kept = malloc(10);
    siglongjmp(out, 1);
    (void)number;
}

#pragma GCC diagnostic ignored "-Winfinite-recursion"
__attribute__((noinline)) static int
overflow(volatile char *outer)
{
    volatile char here[FRAME_BYTES];

    here[0] = outer[0];
    return overflow(here) + here[0];
}

__attribute__((noinline)) static void
go_on(void)
{
    kept = malloc(11);
    __asm__ volatile("" : : : "memory");
}

static void
overflows(void)
{
    struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK};
    char nothing = 0;

    sigaltstack(&(stack_t){.ss_sp = signal_stack, .ss_size = sizeof signal_stack}, NULL);
    sigaction(SIGSEGV, &action, NULL);
    for (volatile int i = 0; i < OVERFLOWS; i++) {
        if (sigsetjmp(out, 1) == 0)
            overflow(&nothing);
        go_on();
    }
}

static void
dies(void)
{
    char nothing = 0;

    kept = malloc(10);
    overflow(&nothing);
}

/* switched */

__attribute__((noinline)) static void
elsewhere(void)
{
    for (int i = 0; i < TIMES; i++)
        kept = malloc(10);
}

static void
switched(void)
{
    prepare(&contexts[0], malloc(1 << 20), 1 << 20, elsewhere);
    swapcontext(&main_context, &contexts[0]);
}

/* raised */

__attribute__((noinline)) static int
bottom(void)
{
    for (int i = 0; i < TIMES; i++)
        kept = malloc(10);
    return 0;
}

__attribute__((noinline)) static int
descend(size_t left_bytes)
{
    volatile char here[FRAME_BYTES];

    here[0] = 1;
    return (left_bytes > FRAME_BYTES ? descend(left_bytes - FRAME_BYTES) : bottom()) + here[0];
}

__attribute__((noinline)) static void *
in_thread(void *arg)
{
    for (int i = 0; i < TIMES; i++)
        kept = malloc(10);
    return arg;
}

static void
raised(void)
{
    struct rlimit limit;
    pthread_t other;
    int status;

    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_STACK, &limit);
    if (limit.rlim_max > 2 * (rlim_t)DEEP_BYTES)
        descend(DEEP_BYTES);
    if (fork() == 0) {
        limit.rlim_cur = 1 << 20; // This limit determines the stack size of threads.
        setrlimit(RLIMIT_STACK, &limit);
        pthread_create(&other, NULL, in_thread, NULL);
        pthread_join(other, NULL);
        exit(0);
    }
    wait(&status);
    if (status != 0)
        _exit(5);
}

/* crossing */

__attribute__((noinline)) static void
co_cross(void)
{
    for (int i = 0; i < TIMES; i++) {
        kept = malloc(10);
        swapcontext(&contexts[0], &main_context);
    }
}

static void *
one_turn(void *arg)
{
    swapcontext(&main_context, &contexts[0]);
    return arg;
}

static void
crossing(void)
{
    pthread_t other;

    prepare(&contexts[0], malloc(1 << 16), 1 << 16, co_cross);
    for (int i = 0; i < TIMES; i += 2) {
        one_turn(NULL);
        pthread_create(&other, NULL, one_turn, NULL);
        pthread_join(other, NULL);
    }
}

/* pieces */

struct piece {
    pthread_t thread;
    char *own, *other;
    ucontext_t outside, inside;
};

static __thread struct piece *here;

__attribute__((noinline)) static void
on_other_piece(void)
{
    for (int i = 0; i < TIMES; i++) {
        kept = malloc(10);
        swapcontext(&here->inside, &here->outside);
    }
}

__attribute__((noinline)) static void *
on_piece(void *arg)
{
    here = arg;
    getcontext(&here->inside);
    here->inside.uc_stack.ss_sp = here->other;
    here->inside.uc_stack.ss_size = PIECE_BYTES;
    here->inside.uc_link = &here->outside;
    makecontext(&here->inside, on_other_piece, 0);
    for (int i = 0; i < TIMES; i++) {
        kept = malloc(10);
        swapcontext(&here->outside, &here->inside);
    }
    return NULL;
}

static void
pieces(void)
{
    struct piece all[PIECES];
    pthread_attr_t attributes;
    char *memory = mmap(NULL, 2 * PIECES * PIECE_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (int i = 0; i < PIECES; i++) {
        all[i].own = memory + (size_t)i * PIECE_BYTES;
        all[i].other = memory + (size_t)(2 * PIECES - 1 - i) * PIECE_BYTES;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, all[i].own, PIECE_BYTES);
        if (pthread_create(&all[i].thread, &attributes, on_piece, &all[i]) != 0)
            _exit(6);
    }
    for (int i = 0; i < PIECES; i++)
        pthread_join(all[i].thread, NULL);
}

/* inside */

__attribute__((noinline)) static void
on_usr1(int number)
{
    kept = malloc(10);
    (void)number;
}

__attribute__((noinline)) static void
plain(void)
{
    kept = malloc(10);
    raise(SIGUSR1);
}

static void
inside(void)
{
    struct sigaction action = {.sa_handler = on_usr1, .sa_flags = SA_ONSTACK};
    char stack[1 << 16];

    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < TIMES; i++)
        plain();
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } table[] = {{"arena", arena},       {"overflow", overflows}, {"dies", dies},
                 {"switched", switched}, {"raised", raised},      {"crossing", crossing},
                 {"pieces", pieces},     {"inside", inside}};

    for (size_t i = 0; argc == 2 && i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(argv[1], table[i].name) == 0) {
            table[i].run();
            return 0;
        }
    }
    return 2;
}
