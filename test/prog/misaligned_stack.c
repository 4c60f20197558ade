/* cflags: -O1 -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free */
/* libs: -lstdc++ */
/* misaligned_stack.c: calls allocation functions with a stack pointer that is no multiple of 16, as
 * some hand-written code does against the ABI.
 *
 *   misaligned_stack BLOCKS
 *
 * By each of malloc, calloc, realloc (two calls), memalign, aligned_alloc, posix_memalign and
 * operator new it allocates BLOCKS blocks and frees them, in all size classes. Ends with "done" and
 * 5. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

void *_Znwm(size_t size_bytes);
void _ZdlPv(void *p);

/* Call FUNCTION with these arguments while rsp is misaligned. */
void *misaligned_call(void *function, size_t a, size_t b, size_t c);

__asm__(".text\n.globl misaligned_call\n.type misaligned_call,@function\nmisaligned_call:\n"
        ".cfi_startproc\n"
        "mov %rdi,%rax\nmov %rsi,%rdi\nmov %rdx,%rsi\nmov %rcx,%rdx\n"
        "call *%rax\n" // The function before this one has aligned rsp, so here it is off by 8.
        "ret\n"
        ".cfi_endproc\n.size misaligned_call,.-misaligned_call\n");

static void
give_back(void *function, void *p)
{
    if (p == NULL)
        abort();
    misaligned_call(function, (size_t)p, 0, 0);
}

static void
one_of_each(size_t size_bytes)
{
    void *p, *aligned = NULL;

    give_back(free, misaligned_call(malloc, size_bytes, 0, 0));
    give_back(free, misaligned_call(calloc, 1, size_bytes, 0));
    p = misaligned_call(realloc, 0, size_bytes, 0);
    give_back(free, misaligned_call(realloc, (size_t)p, 3 * size_bytes, 0));
    give_back(free, misaligned_call(memalign, 64, size_bytes, 0));
    give_back(free, misaligned_call(aligned_alloc, 64, size_bytes, 0));
    misaligned_call(posix_memalign, (size_t)&aligned, 64, size_bytes);
    give_back(free, aligned);
    give_back(_ZdlPv, misaligned_call(_Znwm, size_bytes, 0, 0));
}

int
main(int argc, char **argv)
{
    int blocks = argc > 1 ? atoi(argv[1]) : 0;

    for (int i = 0; i < blocks; i++)
        one_of_each(64 + (size_t)i * 4096 % 40960);
    puts("done");
    return 5;
}
