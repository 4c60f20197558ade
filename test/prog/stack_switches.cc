/* cflags: -O1 -fno-builtin-malloc -fno-optimize-sibling-calls -fno-omit-frame-pointer */
/* libs: -lpthread */
/* stack_switches.cc: a random program that switches stacks; `stack_switches SEED` is one program.
 *
 * One to four threads create stacks at a few fixed addresses, of 5 to 64 pages, with or without a
 * guard page. They run functions on these stacks, switch between the functions, and unmap the
 * stacks by libc, by a raw system call, or by mapping others over them. Sometimes they only protect
 * the upper half and use the lower half again. A function on a stack calls itself to a random depth
 * with random frames. On the way, it allocates and frees blocks, raises signals, throws, yields,
 * and runs functions on further stacks. Handlers run on these stacks or on a separate one.
 *
 *     on_NAME    calls a function on another stack. Its unwind table is right, is missing, ends
 *                there, or is wrong about the switch; rbp gets a random value.
 *     swap       leaves a stack in the middle of a function; the outermost frame of a stack has
 *                any of the unwind tables above
 *     ucontext   switches by libc's functions
 *
 * Prints the sums of `take`, and exits with SEED % 7. Besides the libraries, only `take`
 * allocates. */
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define NEVER_INLINE __attribute__((noinline))

enum {
    PAGE = 4096,
    PLACES = 4,
    PLACE_PAGES = 128,
    KEPT = 64,
    CONTEXTS = 3,
    NESTED_MAX = 4,
    // Bytes left free below a function, for handlers on the stack and for the unwinder of C++.
    RESERVED = 13 * 1024,
};

typedef void function_on(void *argument);

extern "C" {
typedef void on_fn(char *top, uint64_t rbp, function_on *f, void *argument);
on_fn on_right, on_missing, on_ending, on_offset, on_rbp, on_far, on_word;
void swap_right(uint64_t **ret_from, uint64_t *to);
void swap_missing(uint64_t **ret_from, uint64_t *to);
void start_ending(), start_missing(), start_offset(), start_rbp();
}

/* After the switch, r12 is the old rsp. TABLE is the unwind table from the switch on. */
#define ON(name, begin, table, end)                                                                \
    __asm__(".text\n.globl " name "\n.type " name ",@function\n" name ":\n" begin                  \
            "push %rbx\npush %rbp\npush %r12\n"                                                    \
            "mov %rsp,%r12\nmov %rdi,%rsp\nmov %rsi,%rbp\nmov %rcx,%rdi\n" table                   \
            "call *%rdx\n"                                                                         \
            "mov %r12,%rsp\npop %r12\npop %rbp\npop %rbx\nret\n" end ".size " name ",.-" name "\n")
#define BEGIN ".cfi_startproc\n"
#define END ".cfi_endproc\n"

ON("on_right", BEGIN,
   ".cfi_def_cfa %r12, 32\n.cfi_offset %rbx,-16\n.cfi_offset %rbp,-24\n"
   ".cfi_offset %r12,-32\n", END);
ON("on_missing", "", "", "");
ON("on_ending", BEGIN, ".cfi_undefined %rip\n", END);
ON("on_offset", BEGIN, ".cfi_def_cfa_offset 8\n", END);
ON("on_rbp", BEGIN, ".cfi_def_cfa %rbp, 16\n", END);
ON("on_far", BEGIN, ".cfi_def_cfa %rbp, 0x7000\n", END);
// The CFA is the word at rbp + 0x8000.
ON("on_word", BEGIN, ".cfi_escape 0x0f,0x05,0x76,0x80,0x80,0x02,0x06\n", END);

#define SWAP(name, adjust, begin, end)                                                             \
    __asm__(".text\n.globl " name "\n.type " name ",@function\n" name ":\n" begin                  \
            "push %rbp\n" adjust "push %rbx\n" adjust "push %r12\n" adjust "push %r13\n" adjust    \
            "push %r14\n" adjust "push %r15\n" adjust                                              \
            "mov %rsp,(%rdi)\nmov %rsi,%rsp\n"                                                     \
            "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n" end                \
            ".size " name ",.-" name "\n")
SWAP("swap_right", ".cfi_adjust_cfa_offset 8\n", BEGIN, END);
SWAP("swap_missing", "", "", "");

/* The outermost function on a stack for swap calls r12 with the argument rbx. */
#define START(name, begin, end)                                                                    \
    __asm__(".text\n.globl " name "\n.type " name ",@function\n" name ":\n" begin                  \
            "mov %rbx,%rdi\ncall *%r12\nud2\n" end ".size " name ",.-" name "\n")
START("start_ending", BEGIN ".cfi_undefined %rip\n", END);
START("start_missing", "", "");
START("start_offset", BEGIN, END);
START("start_rbp", BEGIN ".cfi_def_cfa %rbp, 16\n", END);

/* An address range for one stack at a time. */
struct stack {
    // Start of the range; bounds of the stack, which is mapped if TOP is not NULL.
    char *base, *low, *top;
    bool used;
};

/* A suspended function. */
struct context {
    struct stack *stack;  // NULL = no function is suspended.
    bool by_swap;
    uint64_t *rsp, *back; // Used if by_swap.
    ucontext_t here, outside;
    struct thread *t;
    int swap;
    bool done;
};

struct thread {
    uint64_t random;
    struct stack stacks[PLACES];
    struct context contexts[CONTEXTS];
    struct context *running;
    unsigned nested;
    char *low;       // Lower bound of the stack in use.
    void *kept[KEPT];
    uint64_t allocations, bytes, thrown, checksum;
    pthread_t id;
};

static __thread struct thread *self;

static uint64_t
draw(struct thread *t, uint64_t below)
{
    t->random ^= t->random << 13;
    t->random ^= t->random >> 7;
    t->random ^= t->random << 17;
    return (t->random * UINT64_C(0x2545f4914f6cdd1d) >> 33) % below;
}

NEVER_INLINE static void *
take(struct thread *t, size_t bytes)
{
    void *volatile p = malloc(bytes);

    if (p == NULL)
        abort();
    t->allocations++;
    t->bytes += bytes;
    memset(p, (int)bytes, bytes < 64 ? bytes : 64);
    return p;
}

static void
take_or_give(struct thread *t)
{
    void **place = &t->kept[draw(t, KEPT)];

    if (*place != NULL) {
        t->checksum = t->checksum * 31 + *(unsigned char *)*place;
        free(*place);
        *place = NULL;
    } else {
        *place = take(t, 1 + draw(t, 300));
    }
}

static void
on_signal(int number)
{
    struct thread *t = self;
    char *low = t->low;

    (void)number;
    t->low = NULL; // Prevents recursion and switches.
    take_or_give(t);
    take_or_give(t);
    t->low = low;
}

/* --- Stacks ----------------------------------------------------------------------------------- */

static void
map(char *at, size_t bytes, int protection)
{
    if (mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
        abort();
}

static void
unmap(struct thread *t, struct stack *s)
{
    size_t bytes = (size_t)PLACE_PAGES * PAGE;

    switch (draw(t, 4)) {
    case 0:
        munmap(s->base, bytes);
        break;
    case 1:
        syscall(SYS_munmap, s->base, bytes);
        break;
    case 2:
        map(s->base, bytes, PROT_NONE);
        break;
    default:
        // Keep the lower part for the next stack; remove the rest.
        if (draw(t, 2) != 0)
            mprotect(s->low + (s->top - s->low) / 2, (size_t)(s->top - s->low) / 2, PROT_NONE);
        else
            syscall(SYS_munmap, s->low + PAGE, s->top - s->low - PAGE);
    }
    s->top = NULL;
}

/* Return an unused stack, mapped; NULL if all are in use. */
static struct stack *
find_stack(struct thread *t)
{
    struct stack *s = &t->stacks[draw(t, PLACES)];
    size_t pages = 5 + draw(t, draw(t, 3) == 0 ? 60 : 8);

    if (s->used)
        return NULL;
    if (s->top != NULL && draw(t, 3) != 0)
        return s;
    if (s->top != NULL)
        unmap(t, s);
    pages += pages % 2; // Each half has whole pages.
    s->low = s->base + PAGE * draw(t, 3);
    s->top = s->low + pages * PAGE;
    map(s->low, pages * PAGE, PROT_READ | PROT_WRITE);
    if (draw(t, 2) != 0) {
        mprotect(s->low, PAGE, PROT_NONE);
        s->low += PAGE;
        if ((s->top - s->low) / PAGE % 2 != 0) {
            mprotect(s->low, PAGE, PROT_NONE);
            s->low += PAGE;
        }
    }
    if (draw(t, 2) != 0)
        map(s->top, PAGE, draw(t, 2) != 0 ? PROT_NONE : PROT_READ);
    else if (draw(t, 2) != 0)
        munmap(s->top, PAGE);
    return s;
}

/* Return a value for a register that must not matter. */
static uint64_t
wild(struct thread *t, const struct stack *s)
{
    switch (draw(t, 10)) {
    case 0:
        return 0;
    case 1:
        return draw(t, 4096);
    case 2:
        return UINT64_MAX - draw(t, 64);
    case 3:
        return (uint64_t)s->top - 8 * draw(t, 8);
    case 4:
        return (uint64_t)s->top + PAGE * draw(t, 40);
    case 5:
        return (uint64_t)s->top - PAGE * draw(t, 8) + draw(t, 16);
    case 6:
        return (uint64_t)t->stacks[draw(t, PLACES)].base + 8 * draw(t, 1 << 16);
    case 7:
        return (uint64_t)&t;
    case 8:
        return (uint64_t)(__builtin_frame_address(0));
    default:
        return draw(t, UINT64_C(1) << 31) << 16;
    }
}

/* --- Functions on them ------------------------------------------------------------------------ */

static void descend(struct thread *t, unsigned depth);
static void begin_context(struct thread *t);
static void resume(struct thread *t, struct context *c);

static void
descend_from_top(void *argument)
{
    struct thread *t = static_cast<struct thread *>(argument);

    try {
        descend(t, 1 + (unsigned)draw(t, 60));
    } catch (int) {
        t->thrown++;
        take_or_give(t);
    }
}

/* Call a function on another stack. */
static void
call_elsewhere(struct thread *t)
{
    static on_fn *const ways[] = {on_right, on_missing, on_ending, on_offset,
                                  on_rbp,   on_far,     on_word};
    struct stack *s = find_stack(t);
    char *low = t->low;

    if (s == NULL || t->nested == NESTED_MAX)
        return;
    s->used = true;
    t->nested++;
    t->low = s->low;
    ways[draw(t, sizeof ways / sizeof *ways)](s->top - 16 * draw(t, 4), wild(t, s),
                                             descend_from_top, t);
    t->low = low;
    t->nested--;
    s->used = false;
    if (draw(t, 2) != 0)
        unmap(t, s);
}

static void
yield(struct thread *t)
{
    struct context *c = t->running;

    if (c == NULL || t->nested != 0)
        return;
    if (!c->by_swap)
        swapcontext(&c->here, &c->outside);
    else if (c->swap == 0)
        swap_right(&c->rsp, c->back);
    else
        swap_missing(&c->rsp, c->back);
}

static void
act(struct thread *t)
{
    switch (draw(t, 16)) {
    case 0:
        raise(draw(t, 2) != 0 ? SIGUSR1 : SIGUSR2);
        break;
    case 1:
    case 2:
        call_elsewhere(t);
        break;
    case 3:
    case 4:
        yield(t);
        break;
    default:
        take_or_give(t);
    }
}

/* Recurse through DEPTH functions with frames of many sizes. */
NEVER_INLINE static void
descend(struct thread *t, unsigned depth)
{
    size_t bytes = draw(t, 12) == 0 ? draw(t, 20000) : draw(t, 300);
    char *here = static_cast<char *>(__builtin_frame_address(0));

    if (depth == 0 || here - t->low < (long)(RESERVED + bytes)) {
        take_or_give(t);
        if (draw(t, 8) == 0)
            throw 1;
        return;
    }
    volatile char *room = static_cast<volatile char *>(__builtin_alloca(bytes + 1));
    room[0] = room[bytes] = 1;
    if (draw(t, 3) == 0)
        act(t);
    descend(t, depth - 1);
    if (draw(t, 4) == 0)
        act(t);
    t->checksum += (uint64_t)room[bytes];
}

/* --- Suspended functions ---------------------------------------------------------------------- */

static void
run_context(struct context *c)
{
    descend_from_top(c->t);
    c->done = true;
    for (;;) {
        if (c->by_swap)
            swap_right(&c->rsp, c->back);
        else
            swapcontext(&c->here, &c->outside);
    }
}

static void
run_context_of(unsigned high, unsigned low)
{
    run_context(reinterpret_cast<struct context *>((uint64_t)high << 32 | low));
}

/* Registers for swap: r15, r14, r13, r12, rbx, rbp, and the return address. */
static void
prepare_swap(struct thread *t, struct context *c)
{
    static void (*const starts[])() = {start_ending, start_missing, start_offset, start_rbp};
    uint64_t *rsp = reinterpret_cast<uint64_t *>(c->stack->top - 16 * draw(t, 4));

    *--rsp = (uint64_t)starts[draw(t, 4)];
    *--rsp = wild(t, c->stack);
    *--rsp = (uint64_t)c;
    *--rsp = (uint64_t)run_context;
    for (int i = 0; i < 3; i++)
        *--rsp = wild(t, c->stack);
    c->rsp = rsp;
}

static void
begin_context(struct thread *t)
{
    struct context *c = &t->contexts[draw(t, CONTEXTS)];
    struct stack *s;

    if (c->stack != NULL || (s = find_stack(t)) == NULL)
        return;
    *c = {};
    c->t = t;
    c->stack = s;
    s->used = true;
    c->by_swap = draw(t, 3) != 0;
    c->swap = (int)draw(t, 2);
    if (c->by_swap) {
        prepare_swap(t, c);
        return;
    }
    getcontext(&c->here);
    c->here.uc_stack.ss_sp = s->low;
    c->here.uc_stack.ss_size = (size_t)(s->top - s->low);
    makecontext(&c->here, reinterpret_cast<void (*)()>(run_context_of), 2,
                (unsigned)((uint64_t)c >> 32), (unsigned)(uint64_t)c);
}

static void
resume(struct thread *t, struct context *c)
{
    char *low = t->low;

    t->running = c;
    t->low = c->stack->low;
    if (!c->by_swap)
        swapcontext(&c->outside, &c->here);
    else if (c->swap == 0)
        swap_right(&c->back, c->rsp);
    else
        swap_missing(&c->back, c->rsp);
    t->low = low;
    t->running = NULL;
    // Abandon some functions before they end.
    if (c->done || draw(t, 20) == 0) {
        c->stack->used = false;
        if (draw(t, 2) != 0)
            unmap(t, c->stack);
        c->stack = NULL;
    }
}

/* --- Threads ---------------------------------------------------------------------------------- */

static void
live(struct thread *t, unsigned steps)
{
    char handlers[32 * 1024];
    stack_t alternate = {};

    self = t;
    alternate.ss_sp = handlers;
    alternate.ss_size = sizeof handlers;
    if (draw(t, 2) != 0) {
        alternate.ss_sp = t->stacks[0].base - sizeof handlers;
        map(static_cast<char *>(alternate.ss_sp), sizeof handlers, PROT_READ | PROT_WRITE);
    }
    sigaltstack(&alternate, NULL);
    t->low = static_cast<char *>(__builtin_frame_address(0)) - 256 * 1024;
    for (unsigned i = 0; i < steps; i++) {
        struct context *c = &t->contexts[draw(t, CONTEXTS)];

        if (c->stack != NULL)
            resume(t, c);
        else if (draw(t, 3) == 0)
            begin_context(t);
        else if (draw(t, 2) == 0)
            call_elsewhere(t);
        else
            descend_from_top(t);
    }
    for (void *&p : t->kept)
        free(p);
    alternate.ss_flags = SS_DISABLE;
    sigaltstack(&alternate, NULL);
}

static void *
live_apart(void *argument)
{
    live(static_cast<struct thread *>(argument), 12);
    return NULL;
}

static void
handle(int number, int flags)
{
    struct sigaction a = {};

    a.sa_handler = on_signal;
    a.sa_flags = flags;
    sigaction(number, &a, NULL);
}

int
main(int argc, char **argv)
{
    static struct thread threads[4];
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    struct thread all = {};
    unsigned count = seed % 3 == 0 ? 4 : 1;

    handle(SIGUSR1, SA_ONSTACK);
    handle(SIGUSR2, 0);
    for (unsigned i = 0; i < 4; i++) {
        threads[i].random = (seed * 4 + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        for (unsigned j = 0; j < PLACES; j++)
            threads[i].stacks[j].base = reinterpret_cast<char *>(
                UINT64_C(0x200000000000) + (i * PLACES + j) * 2 * PLACE_PAGES * PAGE);
    }
    for (unsigned i = 1; i < count; i++)
        if (pthread_create(&threads[i].id, NULL, live_apart, &threads[i]) != 0)
            return 99;
    live(&threads[0], 24);
    for (unsigned i = 1; i < count; i++)
        pthread_join(threads[i].id, NULL);
    for (unsigned i = 0; i < count; i++) {
        all.allocations += threads[i].allocations;
        all.bytes += threads[i].bytes;
        all.thrown += threads[i].thrown;
        all.checksum += threads[i].checksum;
    }
    printf("allocations %lu allocated_bytes %lu thrown %lu checksum %lu\n", all.allocations,
           all.bytes, all.thrown, all.checksum);
    return (int)(seed % 7);
}
