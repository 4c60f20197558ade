/* patch.h: jumps at the beginnings of functions, and code that replaces the overwritten
 * instructions. The structs are stored in the process, where a later detach reads them. */
#ifndef ATTACH_PATCH_H
#define ATTACH_PATCH_H

#include "attach/target.h"

enum { PATCH_JUMP_BYTES = 5, PATCH_MOVED_MAX = 40, TRAMPOLINE_BYTES = 256, RELAY_BYTES = 16 };

/* A function whose first instructions are replaced by a jump to `target`. The trampoline has these
 * instructions and then a jump behind them, or a copy of the whole function. */
struct patch {
    uint64_t function, target, trampoline;
    uint64_t at; // Address of the jump: the function, or behind its endbr64.
    uint8_t original[PATCH_JUMP_BYTES];
    uint8_t count; // Number of moved instructions, with their offsets in both places.
    uint8_t left_bytes; // Size of the part, from `function` on, where no thread may stay: up to the
                        // end of the jump, or the whole function.
    uint8_t from[PATCH_MOVED_MAX], to[PATCH_MOVED_MAX];
};

/* A branch within the allocator that leads directly to a patched function. It is changed to lead to
 * the trampoline, because inner calls of the allocator are no events of the program. */
struct branch {
    uint64_t at; // Address of the offset in the instruction.
    int32_t original, changed;
};

/* Return true if heaptap was built with a decoder of instructions, without which nothing can be
 * patched. */
bool patch_is_available(void);

/* Prepare a jump from FUNCTION, which has SIZE_BYTES, to TARGET. P->trampoline is set; store the
 * trampoline's code, TRAMPOLINE_BYTES, in CODE. Returns 0, or HEAPTAP_BAD_INPUT with ERR set if
 * FUNCTION cannot be patched. NAME is for messages. */
int patch_prepare(const struct target *t, const char *name, uint64_t function,
                  uint64_t size_bytes, uint64_t target, struct patch *p, unsigned char *code,
                  struct err *err);

/* Store a jump to TARGET, at any distance, in CODE, which has RELAY_BYTES. */
void patch_relay(unsigned char *code, uint64_t target);

/* Return true if a jump at FROM reaches each address of [LOW, HIGH). */
bool patch_reaches(uint64_t from, uint64_t low, uint64_t high);

/* Store in BRANCHES, which has room for MAX, the branches in the code [START, END) that lead to a
 * function of the COUNT patches at P. Return their number; more than MAX if there is no room. */
size_t patch_branches(const struct target *t, uint64_t start, uint64_t end, const struct patch *p,
                      size_t count, struct branch *branches, size_t max);

/* Write or remove the jump of P. Return false if the process's code cannot be written, or does not
 * have the expected bytes. A jump that has been removed already is no error: an earlier detach may
 * have ended after that, or the program may have unmapped the code. */
bool patch_apply(const struct target *t, const struct patch *p);
bool patch_remove(const struct target *t, const struct patch *p);

/* Return the address at which a thread at PC must continue when P is written (INTO) or removed; 0
 * if it stays at PC. */
uint64_t patch_moves(const struct patch *p, uint64_t pc, bool into);

#endif
