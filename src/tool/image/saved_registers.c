/* saved_registers.c: read the words in saved registers. General registers are words in an array.
 * Vector registers are bytes as the kernel saved them:
 *
 *     x86      the area of XSAVE, in its standard format: 32 bytes of control words, 8 registers
 *              of x87 and MMX, 16 of SSE, 96 free bytes, a header of 64, and from byte 576 on the
 *              upper halves of AVX registers and all else that the processor has. Without XSAVE it
 *              ends at byte 512.
 *     aarch64  32 registers of 16 bytes, then control words
 *     arm      32 registers of 8 bytes, then a control word
 *
 * The control words of x86 are left out, because they contain the address of the last operand, and
 * so is the header, because it is none of the program's data. Everything else counts, including
 * parts whose position depends on the processor: a word too many keeps a lost block, a word too few
 * loses a live one. */
#include "image/saved_registers.h"

#include <elf.h>
#include <inttypes.h>

enum {
    X86_MMX_OFF = 32,
    X86_SSE_OFF = 160,
    X86_SSE_END = 416,
    X86_HEADER_END = 576,
    X86_AVX_END = 832,
    X86_FXSAVE_BYTES = 512,
    AARCH64_END = 512,
    ARM_END = 256,
};

bool
saved_registers_are_vectors(const struct memory *m, uint32_t type, uint64_t size_bytes)
{
    switch (m->machine) {
    case EM_X86_64:
        return (type == NT_FPREGSET || type == NT_X86_XSTATE) && size_bytes >= X86_FXSAVE_BYTES;
    case EM_386:
        // Registers of NT_FPREGSET have 10 bytes here, so their words are not aligned.
        return (type == NT_PRXFPREG || type == NT_X86_XSTATE) && size_bytes >= X86_FXSAVE_BYTES;
    case EM_AARCH64:
        return type == NT_FPREGSET && size_bytes >= AARCH64_END;
    case EM_ARM:
        return type == NT_ARM_VFP && size_bytes >= ARM_END;
    default:
        return false;
    }
}

static void
scan_bytes(const struct memory *m, const struct memory_thread *t, uint32_t start, uint32_t end,
           scan_fn *fn, void *arg)
{
    uint32_t width = m->word_bytes;

    if (end > t->vector_bytes)
        end = t->vector_bytes;
    for (uint32_t at = start; at + width <= end; at += width)
        fn(arg, MEMORY_REGISTERS + at, memory_number(m, t->vectors + at, width));
}

void
saved_registers_scan(const struct memory *m, const struct memory_thread *t, scan_fn *fn, void *arg)
{
    for (uint32_t i = 0; i < t->register_count; i++)
        fn(arg, i, t->registers[i]);
    switch (m->machine) {
    case EM_X86_64:
    case EM_386:
        scan_bytes(m, t, X86_MMX_OFF, X86_SSE_END, fn, arg);
        scan_bytes(m, t, X86_HEADER_END, UINT32_MAX, fn, arg);
        break;
    case EM_AARCH64:
        scan_bytes(m, t, 0, AARCH64_END, fn, arg);
        break;
    case EM_ARM:
        scan_bytes(m, t, 0, ARM_END, fn, arg);
        break;
    default:
        break;
    }
}

static const char *
vector_name(const struct memory *m, uint64_t off, struct arena *arena)
{
    if (m->machine == EM_X86_64 && off >= X86_MMX_OFF && off < X86_SSE_OFF)
        return arena_printf(arena, "mm%" PRIu64, (off - X86_MMX_OFF) / 16);
    if (m->machine == EM_X86_64 && off >= X86_SSE_OFF && off < X86_SSE_END)
        return arena_printf(arena, "xmm%" PRIu64, (off - X86_SSE_OFF) / 16);
    if (m->machine == EM_X86_64 && off >= X86_HEADER_END && off < X86_AVX_END)
        return arena_printf(arena, "ymm%" PRIu64, (off - X86_HEADER_END) / 16);
    return "a vector register";
}

const char *
saved_registers_name(const struct memory *m, uint64_t place, struct arena *arena)
{
    static const char *const names[] = {"r15", "r14", "r13", "r12", "rbp", "rbx", "r11",
                                        "r10", "r9",  "r8",  "rax", "rcx", "rdx", "rsi",
                                        "rdi", "rax before the call", "rip"};

    if (place >= MEMORY_REGISTERS)
        return vector_name(m, place - MEMORY_REGISTERS, arena);
    return m->machine == EM_X86_64 && place < countof(names) ? names[place] : "a register";
}
