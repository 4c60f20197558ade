/* arch_x86_64.h: all processor-dependent code of the recorder. Another processor needs a file like
 * this one. */
#ifndef PLATFORM_ARCH_X86_64_H
#define PLATFORM_ARCH_X86_64_H

#include <elf.h>

#include "base/base.h"

enum { ARCH_ELF_MACHINE = EM_X86_64 };

/* Number of bits of a user-space address. */
enum { ARCH_ADDRESS_BITS = 47 };

static inline long
arch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* True if the process may have forbidden reads of the cycle counter: under SECCOMP_MODE_STRICT a
 * read kills the process. Defined in sys.c. */
extern bool arch_cycles_forbidden;

/* Return the cycle counter; 0 when it is forbidden. */
static inline uint64_t
arch_cycles(void)
{
    return likely(!arch_cycles_forbidden) ? __builtin_ia32_rdtsc() : 0;
}

/* Begin arithmetic with doubles: set default rounding and denormals, and mask all exceptions.
 * Return the program's state for arch_floats_end: the program may trap exceptions or read the
 * flags. The kernel does the same for a signal handler, so a handler that jumps out loses nothing.
 * Every function of the recorder that computes with doubles must call this, or all of its callers
 * must (run/floats). */
static inline uint32_t
arch_floats_begin(void)
{
    const uint32_t own = 0x1f80; // The state of a new process.
    uint32_t before;

    __asm__ volatile("stmxcsr %0\n\tldmxcsr %1" : "=&m"(before) : "m"(own) : "memory");
    return before;
}

/* Restore the program's state BEFORE. */
static inline void
arch_floats_end(uint32_t before)
{
    __asm__ volatile("ldmxcsr %0" : : "m"(before) : "memory");
}

/* Add N to *P in one instruction, even if the compiler keeps *P in a register. */
static INLINE void
arch_add(uint32_t *p, uint32_t n)
{
    __asm__ volatile("addl %1, %0" : "+m"(*p) : "ri"(n) : "cc");
}

/* Return N + (X > LIMIT). Two instructions, where the compiler would use four. */
static INLINE uint32_t
arch_add_if_above(uint32_t n, uint64_t x, int32_t limit)
{
    __asm__("cmpq %2, %1\n\tsbbl $-1, %0" : "+r"(n) : "r"(x), "i"(limit + 1) : "cc");
    return n;
}

/* If *P equals *EXPECTED, set *P to V and return true; else set *EXPECTED to *P and return false.
 * This is one instruction, so it is atomic with regard to signal handlers of this thread, but not
 * to other threads. It takes a third of the time of a locked instruction. */
static inline bool
arch_cas_alone(uint64_t *p, uint64_t *expected, uint64_t v)
{
    bool done;

    __asm__ volatile("cmpxchgq %[v], %[p]"
                     : "=@ccz"(done), [p] "+m"(*p), "+a"(*expected)
                     : [v] "r"(v)
                     : "memory");
    return done;
}

/* Return the address of the thread control block. glibc places it at the upper end of every stack
 * that glibc allocates. */
static inline uint64_t
arch_thread_pointer(void)
{
    uint64_t pointer;

    __asm__("movq %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

/* Clobbered by a call, where the compiler uses these registers at all. */
#ifdef __SSE__
#define ARCH_VECTORS                                                                               \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",      \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
#else
#define ARCH_VECTORS
#endif

/* Call FUNCTION on the stack that ends at TOP, and return its result. */
static inline bool
arch_call_on(void *top, bool (*function)(void))
{
    long result;

    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[top], %%rsp\n\t"
                     "call *%[function]\n\t"
                     "movq %%rbx, %%rsp"
                     : "=a"(result), [top] "+r"(top), [function] "+r"(function)
                     :
                     : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", ARCH_VECTORS
                       "memory", "cc");
    return result & 1;
}

/* The call site of a function. Valid only in a function that uses ARCH_CALLER itself: the builtin
 * makes the compiler save rbp at the top of the frame, with the return address in the word above
 * it. */
/* Return true if valgrind executes the program. These instructions change nothing on a processor;
 * valgrind takes them for a request, whose number is 0x1001, and puts the answer in rdx. */
static inline bool
arch_is_on_valgrind(void)
{
    const uint64_t request[6] = {0x1001};
    uint64_t answer = 0;

    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\t"
                     "rolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(request)
                     : "cc", "memory");
    return answer != 0;
}

struct arch_caller {
    uint64_t slot; // Address of the word that holds the return address.
    uint64_t rbp;  // Value of rbp in the caller.
};

/* Return only the slot of ARCH_CALLER. Valid in any function, and costs nothing. */
#define ARCH_SLOT() ((uint64_t)(uintptr_t)__builtin_dwarf_cfa() - 8)

#define ARCH_CALLER()                                                                              \
    ({                                                                                             \
        const uint64_t *frame_ = (const uint64_t *)__builtin_frame_address(0);                     \
        (struct arch_caller){(uint64_t)(uintptr_t)(frame_ + 1), frame_[0]};                        \
    })

/* Define the exported function NAME. It calls FUNCTION with the slot of NAME's return address and
 * with NUMBER, then jumps to the address that FUNCTION returned, with up to three arguments
 * unchanged. So NAME's caller is the caller of the jump's target. */
#define ARCH_JUMP_AFTER(name, function, number)                                                    \
    __asm__(".text\n\t"                                                                            \
            ".globl " #name "\n\t"                                                                 \
            ".type " #name ", @function\n" #name ":\n\t"                                           \
            ".cfi_startproc\n\t"                                                                   \
            "endbr64\n\t"                                                                          \
            "pushq %rdi\n\t.cfi_adjust_cfa_offset 8\n\t"                                          \
            "pushq %rsi\n\t.cfi_adjust_cfa_offset 8\n\t"                                          \
            "pushq %rdx\n\t.cfi_adjust_cfa_offset 8\n\t"                                          \
            "leaq 24(%rsp), %rdi\n\t"                                                              \
            "movl $" ARCH_TEXT(number) ", %esi\n\t"                                                \
            "call " #function "\n\t"                                                               \
            "popq %rdx\n\t.cfi_adjust_cfa_offset -8\n\t"                                          \
            "popq %rsi\n\t.cfi_adjust_cfa_offset -8\n\t"                                          \
            "popq %rdi\n\t.cfi_adjust_cfa_offset -8\n\t"                                          \
            "jmp *%rax\n\t"                                                                        \
            ".cfi_endproc\n\t"                                                                     \
            ".size " #name ", . - " #name "\n\t"                                                   \
            ".previous")
/* Define attached_check, which calls attached_new_owner with the thread id in r10 and preserves the
 * registers of up to four arguments. */
#define ARCH_ATTACHED_CHECK                                                                        \
    __asm__(".text\n\t"                                                                            \
            ".globl attached_check\n\t"                                                            \
            ".hidden attached_check\n\t"                                                           \
            ".type attached_check, @function\n"                                                    \
            "attached_check:\n\t"                                                                  \
            ".cfi_startproc\n\t"                                                                   \
            "pushq %rdi\n\t.cfi_adjust_cfa_offset 8\n\t"                                          \
            "pushq %rsi\n\t.cfi_adjust_cfa_offset 8\n\t"                                          \
            "pushq %rdx\n\t.cfi_adjust_cfa_offset 8\n\t"                                          \
            "pushq %rcx\n\t.cfi_adjust_cfa_offset 8\n\t"                                          \
            "pushq %r8\n\t.cfi_adjust_cfa_offset 8\n\t"                                           \
            "pushq %r9\n\t.cfi_adjust_cfa_offset 8\n\t"                                           \
            "movl %r10d, %edi\n\t"                                                                 \
            "call attached_new_owner\n\t"                                                          \
            "popq %r9\n\t.cfi_adjust_cfa_offset -8\n\t"                                           \
            "popq %r8\n\t.cfi_adjust_cfa_offset -8\n\t"                                           \
            "popq %rcx\n\t.cfi_adjust_cfa_offset -8\n\t"                                          \
            "popq %rdx\n\t.cfi_adjust_cfa_offset -8\n\t"                                          \
            "popq %rsi\n\t.cfi_adjust_cfa_offset -8\n\t"                                          \
            "popq %rdi\n\t.cfi_adjust_cfa_offset -8\n\t"                                          \
            "ret\n\t"                                                                              \
            ".cfi_endproc\n\t"                                                                     \
            ".size attached_check, . - attached_check\n\t"                                         \
            ".previous")

/* Define the exported function heaptap_attached_NAME. If the thread's words belong to another
 * thread, it has them cleared. It then jumps to NAME with all arguments unchanged, so NAME's caller
 * is its caller. */
#define ARCH_ATTACHED_ENTRY(name)                                                                  \
    __asm__(".text\n\t"                                                                            \
            ".balign 32\n\t"                                                                       \
            ".globl heaptap_attached_" #name "\n\t"                                                \
            ".type heaptap_attached_" #name ", @function\n"                                        \
            "heaptap_attached_" #name ":\n\t"                                                      \
            ".cfi_startproc\n\t"                                                                   \
            "endbr64\n\t"                                                                          \
            "movq attached_tid_off(%rip), %r11\n\t"                                                \
            "movl %fs:(%r11), %r10d\n\t"                                                           \
            "movq heaptap_attach_owner@gottpoff(%rip), %r11\n\t"                                   \
            "cmpl %r10d, %fs:(%r11)\n\t"                                                           \
            "je " #name "\n\t"                                                                     \
            "call attached_check\n\t"                                                              \
            "jmp " #name "\n\t"                                                                    \
            ".cfi_endproc\n\t"                                                                     \
            ".size heaptap_attached_" #name ", . - heaptap_attached_" #name "\n\t"               \
            ".previous")

#define ARCH_TEXT(number) ARCH_TEXT_OF(number)
#define ARCH_TEXT_OF(number) #number

#endif
