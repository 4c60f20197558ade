/* fuzz_cfi.c: parse arbitrary bytes as unwind tables.
 *
 * The input is an object: its .eh_frame_hdr begins at the first byte, and the last four bytes are
 * the code address to look up, relative to that. Compiling and stepping must end, and must not read
 * outside the object or the stack: both are blocks of exactly their size, so the address sanitizer
 * reports such reads. The results are checked as far as possible. A failed step must change
 * nothing; a successful one, unless it leaves a signal frame, must stay within bounds; and a rule
 * must agree with the step. */
/* covers: cfi.c cfi_program.c expression.c rule.c step.c */
#include <stdlib.h>
#include <string.h>

#include "unwind/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STACK_WORDS = 256 };

static void
cfi_require(bool condition)
{
    if (!condition)
        __builtin_trap();
}

static uint64_t
cfi_address_of(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

/* Every stack word holds the address of another stack word, so that rules that dereference find
 * addresses. */
static void
fill_stack(uint64_t *stack)
{
    for (size_t i = 0; i < STACK_WORDS; i++)
        stack[i] = cfi_address_of(&stack[(i * 7 + 11) % STACK_WORDS]);
}

static void
fill_registers(struct unwind_registers *r, const uint64_t *stack, uint64_t pc)
{
    memset(r, 0, sizeof *r);
    for (size_t i = 0; i < UNWIND_REGISTERS; i++)
        r->r[i] = cfi_address_of(&stack[32 + i * 5]);
    r->r[UNWIND_RSP] = cfi_address_of(&stack[16]);
    r->r[UNWIND_PC] = pc;
    r->valid = (1u << UNWIND_REGISTERS) - 1;
    r->exact = true;
}

/* Require that a step by RULE from BEFORE, if RULE allows a step, equals the step by the table,
 * which ended with RESULT and in AFTER. */
static void
require_agreement(struct unwind_rule rule, const struct unwind_registers *before,
                  const struct unwind_bounds *bounds, enum unwind_step_result result,
                  const struct unwind_registers *after)
{
    const uint32_t tracked = 1u << UNWIND_RSP | 1u << UNWIND_RBP | 1u << UNWIND_PC;
    struct unwind_registers r = *before;

    cfi_require(rule.kind != RULE_NONE);
    cfi_require(result != UNWIND_STEPPED || (rule.kind != RULE_END && rule.kind != RULE_NO_TABLE));
    if (rule.kind > RULE_SIGNAL)
        return;
    cfi_require(unwind_step_by_rule(&r, &rule, bounds) == result);
    cfi_require(r.r[UNWIND_RSP] == after->r[UNWIND_RSP] && r.r[UNWIND_PC] == after->r[UNWIND_PC]);
    cfi_require((r.valid & tracked) == (after->valid & tracked) && r.exact == after->exact);
    cfi_require(!(r.valid >> UNWIND_RBP & 1) || r.r[UNWIND_RBP] == after->r[UNWIND_RBP]);
}

static void
step_once(const struct unwind_object *object, const uint64_t *stack, uint64_t lookup)
{
    struct unwind_bounds bounds = {cfi_address_of(stack), cfi_address_of(stack + STACK_WORDS),
                                   NULL};
    struct unwind_rule rule = unwind_compile(lookup, object);
    struct unwind_registers before, r;
    enum unwind_step_result result;

    fill_registers(&before, stack, lookup);
    r = before;
    result = unwind_step_in(&r, &bounds, object);
    require_agreement(rule, &before, &bounds, result, &r);
    if (result != UNWIND_STEPPED) {
        cfi_require(memcmp(&r, &before, sizeof r) == 0);
        return;
    }
    // An interrupted function may have run on another stack.
    cfi_require(r.exact || (r.r[UNWIND_RSP] >= bounds.low && r.r[UNWIND_RSP] <= bounds.high));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t *stack = malloc(STACK_WORDS * sizeof *stack);
    size_t object_size = size < 5 ? 0 : size - 4;
    uint8_t *bytes = malloc(object_size + !object_size);
    int32_t lookup;

    if (object_size > 0 && stack && bytes) {
        struct unwind_object object = {
            .start = cfi_address_of(bytes),
            .end = cfi_address_of(bytes) + object_size,
            .eh_frame_hdr = bytes,
        };

        memcpy(bytes, data, object_size);
        memcpy(&lookup, data + object_size, sizeof lookup);
        fill_stack(stack);
        step_once(&object, stack, object.start + (uint64_t)(int64_t)lookup);
    }
    free(bytes);
    free(stack);
    return 0;
}
