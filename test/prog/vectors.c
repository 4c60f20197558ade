/* cflags: -fno-builtin -O0 -g */
/* vectors.c: keep blocks by pointers in vector registers alone.
 *
 *   vectors        prints the names of these registers, then "ready", and spins until it is killed
 *   vectors die    prints both, then writes to address 0
 *
 * Block N has 300 + N bytes, and register N of `names` points to it. One more block, of 399 bytes,
 * is lost. Registers beyond SSE are used only if the processor has them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 300, LOST_BYTES = 399, REGISTERS = 5 };

static const char *const names[REGISTERS] = {"xmm13", "xmm12", "mm3", "ymm10", "zmm20"};

static void *blocks[REGISTERS]; // Cleared while the registers contain the pointers.

static void
allocate(int count)
{
    for (int i = 0; i < count; i++)
        blocks[i] = malloc((size_t)(FIRST_BYTES + i));
    memset(malloc(LOST_BYTES), 1, LOST_BYTES);
}

static void
wipe_stack(void)
{
    volatile char wiped[16384];

    for (size_t i = 0; i < sizeof wiped; i++)
        wiped[i] = 0;
}

/* Move the first COUNT blocks of FROM to registers, print "ready", and spin or die. */
static void
hold(void **from, int count, int dies)
{
    static const char ready[] = "ready\n";

    __asm__ volatile("pxor %%xmm0, %%xmm0; pxor %%xmm1, %%xmm1\n"
                     "movq (%[from]), %%xmm13; movq 8(%[from]), %%xmm12; pslldq $8, %%xmm12\n"
                     "movq 16(%[from]), %%mm3\n"
                     "cmpl $4, %[count]; jb 1f\n"
                     "vmovq 24(%[from]), %%xmm11; vxorps %%xmm10, %%xmm10, %%xmm10\n"
                     "vinsertf128 $1, %%xmm11, %%ymm10, %%ymm10\n"
                     "vxorps %%xmm11, %%xmm11, %%xmm11\n"
                     "cmpl $5, %[count]; jb 1f\n"
                     "vmovq 32(%[from]), %%xmm20\n"
                     "1: movq $0, (%[from]); movq $0, 8(%[from]); movq $0, 16(%[from])\n"
                     "movq $0, 24(%[from]); movq $0, 32(%[from])\n"
                     "mov $1, %%eax; mov $1, %%edi; mov $6, %%edx; syscall\n" // write()
                     "test %[dies], %[dies]; jz 2f\n"
                     "movl $0, 0\n"
                     "2: pause; jmp 2b\n"
                     :
                     : [from] "r"(from), [count] "r"(count), [dies] "r"(dies), "S"(ready)
                     : "memory", "rax", "rcx", "rdx", "rdi", "r11", "cc");
}

int
main(int count, char **arguments)
{
    int registers = 3;

    (void)arguments;
    if (__builtin_cpu_supports("avx"))
        registers = __builtin_cpu_supports("avx512f") ? 5 : 4;
    for (int i = 0; i < registers; i++)
        printf("%s%s", i > 0 ? " " : "", names[i]);
    printf("\n");
    fflush(stdout);
    allocate(registers);
    wipe_stack();
    hold(blocks, registers, count > 1);
    return 1;
}
