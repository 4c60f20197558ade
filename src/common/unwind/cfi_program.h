/* cfi_program.h: runs a function's call frame programs to get the row for one of its instructions.
 * Private to src/common/unwind.
 *
 * A row gives, for one instruction, the canonical frame address (CFA) and the location of each of
 * the caller's registers. The CFA is the value of rsp before the call pushed the return address. */
#ifndef UNWIND_CFI_PROGRAM_H
#define UNWIND_CFI_PROGRAM_H

#include "base/base.h"
#include "unwind/cfi_cursor.h"
#include "unwind/object.h"
#include "unwind/registers.h"

enum cfi_how {
    CFI_UNSET = 0,     // The row has no rule: a callee-saved register is unchanged, and rsp is the
                       // CFA.
    CFI_UNDEFINED,     // The register is lost. If it is the pc, the frame is the outermost.
    CFI_SAME,          // Unchanged.
    CFI_AT_OFFSET,     // The register is in memory at CFA + offset.
    CFI_IS_OFFSET,     // The register has the value CFA + offset.
    CFI_IN_REGISTER,   // The value is register `reg` + offset, as for most CFAs.
    CFI_AT_EXPRESSION, // The register is in memory at the expression's value.
    CFI_IS_EXPRESSION, // The expression's value.
};

struct cfi_rule {
    union {
        int32_t offset;
        uint32_t expression; // Offset of the expression from the object's start.
    };
    uint16_t length; // Length of the expression in bytes.
    uint8_t how;     // enum cfi_how.
    uint8_t reg;     // For CFI_IN_REGISTER.
};
static_assert(sizeof(struct cfi_rule) == 8, "the interpreter keeps six rows on a stranger's stack");

struct cfi_row {
    struct cfi_rule cfa; // CFI_IN_REGISTER or CFI_IS_EXPRESSION.
    struct cfi_rule reg[UNWIND_REGISTERS];
    bool signal; // The kernel's signal frame: a signal interrupted its caller, which made no call.
};

/* A function's record, merged with the fields of its common record (CIE). */
struct cfi_function {
    uint64_t begin, size;  // Code addresses [begin, begin + size), modulo 2^64.
    struct cursor initial; // Program that all functions of the CIE share. It runs first.
    struct cursor program; // Program of this function alone.
    uint64_t code_align;   // Factor of each advance.
    int64_t data_align;    // Factor of most offsets.
    bool signal;
};

/* Run F's programs up to LOOKUP. Return false if they are malformed. */
bool cfi_run(const struct cfi_function *f, uint64_t lookup, const struct unwind_object *object,
             struct cfi_row *ret_row);

/* Return the bytes of the expression in RULE. */
static inline struct cursor
cfi_expression(const struct cfi_rule *rule, const struct unwind_object *object)
{
    const uint8_t *code = (const uint8_t *)(uintptr_t)(object->start + rule->expression);

    return (struct cursor){.at = code, .end = code + rule->length};
}

#endif
