/* cfi.h: call frame information: from an address to one row of the unwind table. Private to
 * src/common/unwind.
 *
 * A row says for one instruction how the canonical frame address (CFA, the value of rsp before the
 * call pushed the return address) and each register of the caller are found.
 */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include "base/base.h"
#include "unwind/cfi_cursor.h"
#include "unwind/unwind.h"

enum cfi_how {
    CFI_UNSET = 0,     // Not mentioned: callee-saved registers are unchanged, rsp is the CFA.
    CFI_UNDEFINED,     // Not recoverable; in the pc's column: outermost frame.
    CFI_SAME,          // Unchanged.
    CFI_AT_OFFSET,     // In memory at CFA + offset.
    CFI_IS_OFFSET,     // The value CFA + offset.
    CFI_IN_REGISTER,   // The value of register `reg` + offset; how most CFAs are given.
    CFI_AT_EXPRESSION, // In memory at the expression's value.
    CFI_IS_EXPRESSION, // The expression's value.
};

struct cfi_rule {
    union {
        int32_t offset;
        uint32_t expression; // Where its bytes are, from the object's start.
    };
    uint16_t length; // Of the expression in bytes.
    uint8_t how;     // enum cfi_how.
    uint8_t reg;     // For CFI_IN_REGISTER.
};
static_assert(sizeof(struct cfi_rule) == 8, "the interpreter keeps six rows on a stranger's stack");

struct cfi_row {
    struct cfi_rule cfa; // CFI_IN_REGISTER or CFI_IS_EXPRESSION.
    struct cfi_rule reg[UNWIND_REGISTERS];
    bool signal; // The frame a signal handler returns to: its caller was interrupted, not calling.
};

/* One function's record with what its common record (CIE) contributes. */
struct cfi_function {
    uint64_t begin, size;  // Code addresses: [begin, begin + size), taken modulo 2^64.
    struct cursor initial; // The program common to all functions of the CIE,
    struct cursor program; // and the function's own, which continues it.
    uint64_t code_align;   // Factor of each advance.
    int64_t data_align;    // Factor of most offsets.
    bool signal;
};

enum cfi_result {
    CFI_FOUND,
    CFI_NONE, // Nothing covers the address.
    CFI_BAD,  // Something does, but it makes no sense or uses what we do not support.
};

/* The record of the function that covers LOOKUP in OBJECT. */
enum cfi_result cfi_find(uint64_t lookup, const struct unwind_object *object,
                         struct cfi_function *ret_function);

/* Run F's programs up to LOOKUP. False if they are malformed. */
bool cfi_run(const struct cfi_function *f, uint64_t lookup, const struct unwind_object *object,
             struct cfi_row *ret_row);

/* Both in one. */
enum cfi_result cfi_row_at(uint64_t lookup, const struct unwind_object *object,
                           struct cfi_row *ret_row);

/* The bytes of the expression in RULE. */
static inline struct cursor
cfi_expression(const struct cfi_rule *rule, const struct unwind_object *object)
{
    const uint8_t *code = (const uint8_t *)(uintptr_t)(object->start + rule->expression);

    return (struct cursor){.at = code, .end = code + rule->length};
}

/* The word at ADDRESS; false if it is not wholly within BOUNDS. */
READS_STACK static inline bool
unwind_read(const struct unwind_bounds *bounds, uint64_t address, uint64_t *ret_word)
{
    if (address < bounds->low || bounds->high < 8 || address > bounds->high - 8)
        return false;
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): no stack begins at 0.
    memcpy(ret_word, (const void *)(uintptr_t)address, 8);
    return true;
}

/* Evaluate CODE over the callee's registers R. FIRST, if not NULL, is on the stack at the start
 * (the CFA, for the rules of registers). False if the expression is malformed, needs an unknown
 * register, reads outside BOUNDS or runs too long. */
bool expression_eval(struct cursor code, const struct unwind_registers *r,
                     const struct unwind_bounds *bounds, const uint64_t *first,
                     uint64_t *ret_value);

#endif
