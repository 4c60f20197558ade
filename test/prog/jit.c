/* cflags: -fno-builtin -fno-optimize-sibling-calls */
/* libs: -lpthread */
/* jit.c: generate code at run time, without unwind tables, and allocate from it.
 *
 *     jit MAP [FILE]   writes /tmp/perf-PID.map as MAP says: "good", "twice" (rewritten),
 *                      "garbage", "huge" (many lines), "link" or "none"; with FILE it makes that at
 *                      the end and stays
 *
 * Three generated functions call `get`, which allocates 10 bytes. `run` calls each 100 times:
 *
 *     framed      with a frame pointer                      jit_framed
 *     bare        without: its caller is skipped            jit_bare
 *     lying       with rbp pointing up into nothing         jit_lying
 *
 * Then the old code is unmapped, and a copy of `framed` at the same address calls `again` for 100
 * blocks. Then `lying` calls `get` for 100 blocks on a separate stack; memory above that stack was
 * mapped when the recorder first saw the stack, and has been unmapped since. In total, there are
 * 500 blocks, none of them freed. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

typedef void callee(void);
typedef void code(callee *function, char *high);

enum { TIMES = 100, PAGE = 4096, SPACE = 64, STACK_BYTES = 1 << 16, HIGH_BYTES = 1 << 20 };

static void *volatile kept;
static unsigned char *memory;
static ucontext_t main_context, context;
static char *stack;

static const unsigned char framed[] = {
    0x55,             // push %rbp
    0x48, 0x89, 0xe5, // mov %rsp,%rbp
    0xff, 0xd7,       // call *%rdi
    0x5d,             // pop %rbp
    0xc3,             // ret
};
static const unsigned char bare[] = {
    0x48, 0x83, 0xec, 0x08, // sub $8,%rsp
    0xff, 0xd7,             // call *%rdi
    0x48, 0x83, 0xc4, 0x08, // add $8,%rsp
    0xc3,                   // ret
};
static const unsigned char lying[] = {
    0x55,             // push %rbp
    0x48, 0x89, 0xf5, // mov %rsi,%rbp
    0xff, 0xd7,       // call *%rdi
    0x5d,             // pop %rbp
    0xc3,             // ret
};

__attribute__((noinline)) static void
get(void)
{
    kept = malloc(10);
    __asm__ volatile("" : : : "memory");
}

__attribute__((noinline)) static void
again(void)
{
    kept = malloc(10);
    __asm__ volatile("nop" : : : "memory");
}

static void
map_code(void)
{
    memory = mmap(memory, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                  MAP_PRIVATE | MAP_ANONYMOUS | (memory != NULL ? MAP_FIXED : 0), -1, 0);
    if (memory == MAP_FAILED)
        _exit(3);
    memcpy(memory, framed, sizeof framed);
    memcpy(memory + SPACE, bare, sizeof bare);
    memcpy(memory + 2 * SPACE, lying, sizeof lying);
}

__attribute__((noinline)) static void
call(int number, callee *function, char *high)
{
    code *f;
    unsigned char *p = memory + number * SPACE;

    memcpy(&f, &p, sizeof f);
    f(function, high);
    __asm__ volatile("" : : : "memory");
}

static void
write_map(const char *kind)
{
    char path[64], text[400];
    FILE *f;
    int length;

    if (strcmp(kind, "none") == 0)
        return;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    length = snprintf(text, sizeof text, "%lx %x jit_framed\n%lx %x jit_bare\n%lx %x jit_lying\n",
                      (unsigned long)memory, SPACE, (unsigned long)memory + SPACE, SPACE,
                      (unsigned long)memory + 2 * SPACE, SPACE);
    if (strcmp(kind, "link") == 0) {
        if (symlink("/dev/null", path) != 0)
            _exit(4);
        return;
    }
    f = fopen(path, "w");
    if (f == NULL)
        _exit(5);
    if (strcmp(kind, "garbage") == 0)
        fprintf(f, "zzz\n%lx\n\n-1 5 x\n%lx ffffffffffffffff jit_wrong\n", (unsigned long)memory,
                (unsigned long)memory);
    if (strcmp(kind, "twice") == 0)
        fprintf(f, "%lx %x jit_old\n", (unsigned long)memory, 3 * SPACE);
    for (int i = 0; strcmp(kind, "huge") == 0 && i < 200000; i++)
        fprintf(f, "%x 10 jit_other_%d\n", 0x1000 + 16 * i, i);
    fwrite(text, 1, (size_t)length, f);
    if (strcmp(kind, "garbage") == 0)
        fprintf(f, "%lx", (unsigned long)memory);
    fclose(f);
}

__attribute__((noinline)) static void
run(char *nowhere)
{
    for (int i = 0; i < TIMES; i++) {
        call(0, get, NULL);
        call(1, get, NULL);
        call(2, get, nowhere);
    }
}

static void
elsewhere(void)
{
    for (int i = 0; i < TIMES; i++) {
        call(2, get, stack + STACK_BYTES + PAGE);
        if (i == 0)
            munmap(stack + STACK_BYTES, STACK_BYTES);
    }
}

int
main(int argc, char **argv)
{
    char *volatile high = (char *)__builtin_frame_address(0);

    if (argc != 2 && argc != 3)
        return 2;
    setvbuf(stdout, NULL, _IONBF, 0);
    map_code();
    run(high + HIGH_BYTES - (size_t)high % 8);
    write_map(argv[1]);
    munmap(memory, PAGE);
    map_code();
    for (int i = 0; i < TIMES; i++)
        call(0, again, NULL);
    stack = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = STACK_BYTES;
    context.uc_link = &main_context;
    makecontext(&context, elsewhere, 0);
    swapcontext(&main_context, &context);
    if (argc == 3) {
        FILE *f = fopen(argv[2], "w");

        if (f == NULL)
            return 1;
        fclose(f);
        pause();
    }
    return 0;
}
