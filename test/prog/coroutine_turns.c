/* cflags: -O1 -fno-builtin-malloc -fno-optimize-sibling-calls */
/* libs: -Wl,-z,now */
/* coroutine_turns.c: blocks allocated on stacks of coroutines.
 *
 *   coroutine_turns turns ROUNDS
 *       Three coroutines, of 3, 40 and 900 frames, take turns. Shallow, middle and deep each take
 *       ROUNDS blocks of 50, 60 and 70 bytes; deep from `near` and, one frame deeper, from `far`.
 *   coroutine_turns many ROUNDS
 *       40 coroutines take turns, shallow and middle ones.
 *   coroutine_turns grow ROUNDS
 *       One coroutine takes a block at each of 300 depths, ROUNDS times.
 *   coroutine_turns cut HOW FRAMES
 *       A coroutine of FRAMES frames takes 20 blocks of 80 bytes, in turns with another one.
 *       Then it unmaps or protects (HOW) the stack's upper pages, where the outer frames are, and
 *       takes as many blocks of 90 bytes. It never returns.
 *
 * Ends with "done" and 5.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define NEVER_INLINE __attribute__((noinline, noclone))

enum { STACK_BYTES = 2 << 20, ROUNDS_CUT = 20, PAGE = 4096, GROWN = 300, MANY = 40 };

struct coroutine {
    ucontext_t here;
    char *stack;
};

static ucontext_t outside;
static struct coroutine first, second, third, several[MANY], *running;
static int rounds, frames;
static const char *how;

static void
leave(void)
{
    struct coroutine *c = running;

    swapcontext(&c->here, &outside);
}

static void
enter(struct coroutine *c)
{
    running = c;
    swapcontext(&outside, &c->here);
}

static void
make(struct coroutine *c, void (*f)(void))
{
    c->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (c->stack == MAP_FAILED)
        abort();
    getcontext(&c->here);
    c->here.uc_stack.ss_sp = c->stack;
    c->here.uc_stack.ss_size = STACK_BYTES;
    c->here.uc_link = &outside;
    makecontext(&c->here, f, 0);
}

NEVER_INLINE static void
take(size_t size_bytes)
{
    void *volatile p = malloc(size_bytes);

    if (p == NULL)
        abort();
    free(p);
}

/* Call F below DEPTH frames, which are not small. */
NEVER_INLINE static int
below(int depth, void (*f)(void))
{
    volatile char frame[1024];

    frame[0] = 1;
    if (depth > 1)
        return below(depth - 1, f) + frame[0];
    f();
    return frame[0];
}

NEVER_INLINE static void
shallow_turns(void)
{
    for (int i = 0; i < rounds; i++) {
        take(50);
        leave();
    }
}

NEVER_INLINE static void
middle_turns(void)
{
    for (int i = 0; i < rounds; i++) {
        take(60);
        leave();
    }
}

NEVER_INLINE static void
near(void)
{
    take(70);
}

NEVER_INLINE static void
far(void)
{
    near();
}

NEVER_INLINE static void
deep_turns(void)
{
    for (int i = 0; i < rounds; i++) {
        if (i % 2)
            far();
        else
            near();
        leave();
    }
}

static void shallow(void) { below(3, shallow_turns); }
static void middle(void) { below(40, middle_turns); }
static void deep(void) { below(900, deep_turns); }

static void
turns(void)
{
    make(&first, shallow);
    make(&second, middle);
    make(&third, deep);
    for (int i = 0; i < rounds; i++) {
        enter(&first);
        enter(&second);
        enter(&third);
    }
}

static void
many(void)
{
    for (int i = 0; i < MANY; i++)
        make(&several[i], i % 2 ? middle : shallow);
    for (int i = 0; i < rounds * MANY; i++)
        enter(&several[i % MANY]);
}

NEVER_INLINE static int
growing(int depth)
{
    volatile char frame[100];

    frame[0] = 1;
    take(40);
    return depth > 1 ? growing(depth - 1) + frame[0] : 0;
}

static void
grow(void)
{
    for (int i = 0; i < rounds; i++)
        growing(GROWN);
}

/* Take the pages above the current one away. */
static void
cut(void)
{
    char *low = (char *)(((size_t)__builtin_frame_address(0) + 511 + PAGE) & -(size_t)PAGE);
    size_t bytes = (size_t)(first.stack + STACK_BYTES - low);

    if (strcmp(how, "unmap") ? syscall(SYS_mprotect, low, bytes, PROT_NONE)
                             : syscall(SYS_munmap, low, bytes))
        abort();
}

NEVER_INLINE static void
cut_turns(void)
{
    for (int i = 0; i < ROUNDS_CUT; i++) {
        take(80);
        leave();
    }
    cut();
    for (int i = 0; i < ROUNDS_CUT; i++)
        take(90);
    leave();
}

static void cut_off(void) { below(frames, cut_turns); }

static void
cuts(void)
{
    make(&first, cut_off);
    make(&second, middle);
    rounds = ROUNDS_CUT;
    for (int i = 0; i <= ROUNDS_CUT; i++) {
        enter(&first);
        if (i < ROUNDS_CUT)
            enter(&second);
    }
}

int
main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    how = argv[2];
    rounds = atoi(argv[2]);
    frames = argc > 3 ? atoi(argv[3]) : 0;
    if (!strcmp(argv[1], "turns"))
        turns();
    if (!strcmp(argv[1], "many"))
        many();
    if (!strcmp(argv[1], "grow")) {
        make(&first, grow);
        enter(&first);
    }
    if (!strcmp(argv[1], "cut"))
        cuts();
    puts("done");
    return 5;
}
