/* unwind.h: from a return address to the caller's frame, by the unwind tables alone.
 *
 * Two speeds. A *rule* says how to step out of a frame knowing only rsp and rbp; it is compiled
 * once per return address from .eh_frame and cached by the caller. What a rule cannot say
 * (RULE_FULL: expressions, other registers) is left to unwind_step, which tracks all callee-saved
 * registers.
 *
 * Monitor world: no allocation, no locks, no libc beyond _dl_find_object; signal-safe; reads the
 * stack only inside the given bounds, and unwind tables only inside their object's mapping. x86-64;
 * the equations:
 *
 *     RULE_RSP        cfa = rsp + cfa_offset
 *     RULE_RBP        cfa = rbp + cfa_offset
 *                     both: rbp' = rbp_words ? *(cfa + 8 * rbp_words) : rbp
 *     RULE_RBP_DEREF  cfa = *(rbp + cfa_offset)
 *                     rbp' = *(rbp + 8 * rbp_words), with the old rbp; 0 words is a read too, and
 *                     the usual case: code that realigns its stack finds all it saved from rbp
 *     all three       return address = *(cfa - 8); rsp' = cfa
 *     RULE_SIGNAL     the kernel's frame of a signal, in which all registers are
 *                     rsp' = *(rsp + cfa_offset), pc' = *(rsp + cfa_offset + 8), which is exact
 *                     rbp' = *(rsp + 8 * rbp_words)
 *
 * A walk by rules. A frame is {rsp, pc, rbp, exact}; for a frame that is executing a call, rsp is
 * slot + 8 where slot holds its return address pc. Until the stack ends or a limit is reached:
 *
 *     rule = cached or compiled for pc - !exact      (the key, as a pc may occur both ways)
 *     RULE_END        the stack is whole
 *     RULE_NO_TABLE   stop, or go on with a guess and mark the stack as one
 *     RULE_FULL       unwind_step from the captured registers over all frames so far and this one;
 *                     rsp, pc, rbp, exact are then in the registers. Rules may take over again once
 *                     rbp is valid; keep the registers, the next RULE_FULL continues from there.
 *                     A step from rsp, pc and rbp alone is as good if it succeeds and finds rbp.
 *     otherwise       apply the equations; the stack is cut if cfa <= rsp or a word to be read is
 *                     not within [low, high). A return address of 0 ends the stack: it is whole.
 *                     RULE_SIGNAL loses no register: unwind_step from there finds them all.
 *
 * cfa > rsp makes slots rise strictly, so such a walk ends. A signal can lead down again (from a
 * handler on an alternate stack), so the number of frames must be limited all the same.
 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include "base/base.h"

enum unwind_kind {
    RULE_NONE = 0,      // Empty cache entry.
    RULE_RSP,
    RULE_RBP,
    RULE_RBP_DEREF,
    RULE_SIGNAL,
    RULE_FULL,          // Only unwind_step can do it.
    RULE_END,           // The tables say: outermost frame.
    RULE_NO_TABLE,      // No object or no FDE covers the address (JIT code).
};

struct unwind_rule {
    int32_t cfa_offset;
    int16_t rbp_words;  // Where the caller's rbp was saved, in words; see the equations.
    uint8_t kind;       // enum unwind_kind.
    uint8_t reserved;
};
static_assert(sizeof(struct unwind_rule) == 8, "half of a 16-byte cache entry");

/* A loaded object, as the dynamic linker has it mapped. */
struct unwind_object {
    uint64_t start, end;             // [start, end)
    const uint8_t *eh_frame_hdr;     // NULL if it has none.
    const void *link_map;            // struct link_map *; identifies the loading.
    const void *segments;            // Its program headers, Elf64_Phdr; NULL = not known.
    uint32_t segment_count;
    uint64_t bias;                   // Of the segments' addresses.
};

struct dl_find_object;

/* What the kernel told of the process: where its program headers and the kernel's own object lie; 0
 * = not known; and libc's own _dl_find_object, NULL = that of whoever has the name. To be
 * told before the first look-up. Needed in a program that the dynamic linker knows in pieces, in
 * one that has functions of that name, and in a static one. */
struct unwind_process {
    uint64_t headers, header_count, vdso;
    int (*find_object)(void *address, struct dl_find_object *ret_object);
};
void unwind_begin(const struct unwind_process *process);

/* The object that covers ADDRESS. False if none. Lock-free (_dl_find_object, glibc 2.35). */
bool unwind_find_object(uint64_t address, struct unwind_object *ret_object);

/* Where what can be read at ADDRESS in OBJECT ends: its segment's end, or the object's if the
 * segments are not known; 0 if nothing can be read there. */
uint64_t unwind_readable_end(const struct unwind_object *object, uint64_t address);

/* The rule for stepping out of the frame whose instruction at LOOKUP is being executed (a return
 * address minus one, or an exact interrupted pc), which lies in OBJECT. Always gives a rule. */
struct unwind_rule unwind_compile(uint64_t lookup, const struct unwind_object *object);

/* Registers by their DWARF numbers; [16] is the return address column, i.e. the pc. */
enum { UNWIND_RBX = 3, UNWIND_RBP = 6, UNWIND_RSP = 7, UNWIND_PC = 16, UNWIND_REGISTERS = 17 };

struct unwind_registers {
    uint64_t r[UNWIND_REGISTERS];
    uint32_t valid;        // Bit n: r[n] is known. Unknown ones end the walk only if needed.
    bool exact;            // r[UNWIND_PC] is an interrupted instruction, not a return address.
};

/* Words may be read in [low, high) only. */
struct unwind_bounds {
    uint64_t low, high;
};

enum unwind_step_result {
    UNWIND_STEPPED,        // R describes the caller now.
    UNWIND_END,            // R was the outermost frame.
    UNWIND_NO_TABLE,       // Nothing covers R's pc; R is unchanged.
    UNWIND_BAD,            // Needs an unknown register or a read out of bounds, or the tables make
                           // no sense. R is unchanged.
};

/* Replace R by its caller's registers. After a signal frame R->exact is true, and rsp may lie on
 * another stack, outside BOUNDS: the next step needs bounds of its own. A return address of 0 and
 * one the tables call undefined are UNWIND_END. */
enum unwind_step_result unwind_step(struct unwind_registers *r, const struct unwind_bounds *bounds);

/* The same when the object that covers unwind_lookup(R) is known already. */
enum unwind_step_result unwind_step_in(struct unwind_registers *r,
                                       const struct unwind_bounds *bounds,
                                       const struct unwind_object *object);

/* The same by RULE, which is of one of the first four kinds and was compiled for unwind_lookup(R).
 * Gives what unwind_step gives for rsp, rbp and pc, and whether rbp is known; nothing else is known
 * afterwards. */
enum unwind_step_result unwind_step_by_rule(struct unwind_registers *r,
                                            const struct unwind_rule *rule,
                                            const struct unwind_bounds *bounds);

/* The address to look R's pc up with: minus one for return addresses, because a call may be a
 * function's last instruction. */
static inline uint64_t
unwind_lookup(const struct unwind_registers *r)
{
    return r->r[UNWIND_PC] - !r->exact;
}

/* The caller's own registers at the place of the call (callee-saved ones, rsp and pc); always
 * inlined. */
static inline __attribute__((always_inline)) void
unwind_capture(struct unwind_registers *r)
{
    // The pc is that of the lea, so it is exact.
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

#endif
