/* registers.h: the registers of one frame, and the readable range of its stack. x86-64. */
#ifndef UNWIND_REGISTERS_H
#define UNWIND_REGISTERS_H

#include <string.h>

#include "base/base.h"

/* Registers by their DWARF numbers; [16] is the return address column, i.e. the pc. */
enum { UNWIND_RBX = 3, UNWIND_RBP = 6, UNWIND_RSP = 7, UNWIND_PC = 16, UNWIND_REGISTERS = 17 };

struct unwind_registers {
    uint64_t r[UNWIND_REGISTERS];
    uint32_t valid;        // Bit n: r[n] is known. An unknown register ends the walk only if a step
                           // needs it.
    bool exact;            // True if r[UNWIND_PC] is an interrupted instruction, not a return
                           // address.
};

/* The part of a stack that a walk has proved to be mapped: [low, high). */
struct unwind_reach {
    uint64_t low, high;
    // Extend [low, high) to the word at ADDRESS. Return false if the word may be unmapped.
    bool (*extend)(struct unwind_reach *reach, uint64_t address);
};

/* Bounds of the words that may be read. Words outside REACH need reach->extend first. If REACH is
 * NULL, all of [low, high) is mapped. */
struct unwind_bounds {
    uint64_t low, high;
    struct unwind_reach *reach;
};

/* Return the address with which to look up R's pc. For a return address it is one less, because a
 * call may be the last instruction of a function. */
static inline uint64_t
unwind_lookup(const struct unwind_registers *r)
{
    return r->r[UNWIND_PC] - !r->exact;
}

/* Capture the registers of the caller at this point: the callee-saved ones, rsp and pc. Always
 * inlined. */
static inline __attribute__((always_inline)) void
unwind_capture(struct unwind_registers *r)
{
    // The pc is the lea's address, so it is exact.
    __asm__ volatile("movq %%rbx, 24(%0)\n\t"
                     "movq %%rbp, 48(%0)\n\t"
                     "movq %%rsp, 56(%0)\n\t"
                     "movq %%r12, 96(%0)\n\t"
                     "movq %%r13, 104(%0)\n\t"
                     "movq %%r14, 112(%0)\n\t"
                     "movq %%r15, 120(%0)\n\t"
                     "leaq (%%rip), %%rax\n\t"
                     "movq %%rax, 128(%0)"
                     :
                     : "r"(r->r)
                     : "rax", "memory");
    r->valid = 1u << 3 | 1u << 6 | 1u << 7 | 0xf000u | 1u << 16;
    r->exact = true;
}

static inline bool
unwind_reaches(struct unwind_reach *reach, uint64_t address)
{
    return reach == NULL || (address >= reach->low && address <= reach->high - 8) ||
           reach->extend(reach, address);
}

/* Read the word at ADDRESS. Return false if the word is not wholly within BOUNDS, or may be
 * unmapped. */
READS_STACK static inline bool
unwind_read(const struct unwind_bounds *bounds, uint64_t address, uint64_t *ret_word)
{
    if (address < bounds->low || bounds->high < 8 || address > bounds->high - 8 ||
        !unwind_reaches(bounds->reach, address))
        return false;
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): no stack begins at 0.
    memcpy(ret_word, (const void *)(uintptr_t)address, 8);
    return true;
}

#endif
