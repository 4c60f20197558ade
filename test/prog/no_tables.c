/* no_tables.c: an assembly function without unwind tables and without a frame pointer.
 *
 * main calls it 100 times, each time to allocate 10 bytes, so the callers of the function cannot be
 * found: they would be main and its start. A coroutine allocates 5 blocks of 20 bytes and a thread
 * 3 of 30. Their stacks are whole, although makecontext's code does not cover the return address of
 * the first function with a table. */
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

void call_without_table(void (*called)(void));
__asm__(".text\n\t.globl call_without_table\n"
        "call_without_table:\n\t"
        "push %rbp\n\tmov $1, %ebp\n\tcall *%rdi\n\tpop %rbp\n\tret\n\t"
        "nop");

static void *volatile kept;
static ucontext_t outside, inside;

__attribute__((noinline)) static void
bottom(void)
{
    kept = malloc(10);
}

static void
in_context(void)
{
    for (int i = 0; i < 5; i++)
        kept = malloc(20);
}

static void *
in_thread(void *unused)
{
    for (int i = 0; i < 3; i++)
        kept = malloc(30);
    return unused;
}

int
main(void)
{
    static char stack[1 << 16];
    pthread_t thread;

    for (int i = 0; i < 100; i++)
        call_without_table(bottom);
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, in_context, 0);
    swapcontext(&outside, &inside);
    if (pthread_create(&thread, NULL, in_thread, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    return 0;
}
