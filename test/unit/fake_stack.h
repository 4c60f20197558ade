/* fake_stack.h: a stack and registers for tests of the unwinder. Word I of the stack is 1000 + I,
 * register I is 2000 + I, except for registers that point into the stack. */
#ifndef UNIT_FAKE_STACK_H
#define UNIT_FAKE_STACK_H

#include <stdint.h>
#include <string.h>

#include "unwind/unwind.h"

enum { STACK_WORDS = 64 };

static inline uint64_t
address_of(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

/* Fill the stack and the registers; rsp and rbp point into the middle of the stack. */
struct fake {
    uint64_t stack[STACK_WORDS];
    struct unwind_bounds bounds;
    struct unwind_registers r;
};

static inline uint64_t
slot(const struct fake *f, unsigned index)
{
    return address_of(&f->stack[index]);
}

static inline void
fake_init(struct fake *f, const char *pc)
{
    for (unsigned i = 0; i < STACK_WORDS; i++)
        f->stack[i] = i + 1000;
    f->bounds = (struct unwind_bounds){slot(f, 0), slot(f, STACK_WORDS), NULL};
    memset(&f->r, 0, sizeof f->r);
    for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
        f->r.r[i] = 2000 + i;
    f->r.r[UNWIND_RSP] = slot(f, 10);
    f->r.r[UNWIND_RBP] = slot(f, 20);
    f->r.r[UNWIND_RBX] = slot(f, 30);
    f->r.r[UNWIND_PC] = address_of(pc);
    f->r.valid = (1u << UNWIND_REGISTERS) - 1;
    f->r.exact = true;
}

#endif
