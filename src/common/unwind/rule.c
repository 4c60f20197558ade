/* rule.c: compiles a row of the unwind table into the eight-byte rule of the fast path.
 *
 * In nearly all code, the CFA is rsp or rbp plus an offset and the return address is at CFA - 8.
 * rbp is either unchanged or saved near the CFA. A rule expresses exactly this. A row qualifies
 * only if the rule gives the same rsp, rbp and return address as unwind_step. In case of doubt the
 * result is RULE_FULL.
 *
 * The kernel's signal frame has a separate kind: each event in a handler walks through it, and its
 * seventeen expressions would cost more time than all other frames together.
 *
 * Rules do not track other callee-saved registers. An outer frame whose CFA needs one is RULE_FULL,
 * and unwind_step restarts from the captured registers.
 *
 * Signal-safe; no state. */
#include "unwind/rule.h"

#include "unwind/cfi.h"

enum {
    EXPR_BREG = 0x70, // DW_OP_breg0: the opcode is this plus the register's number. A signed offset
                      // follows.
    EXPR_DEREF = 0x06,
};

static struct unwind_rule from_row(const struct cfi_row *row, const struct unwind_object *object);

struct unwind_rule
unwind_compile(uint64_t lookup, const struct unwind_object *object)
{
    struct cfi_row row;

    switch (cfi_row_at(lookup, object, &row)) {
    case CFI_FOUND:
        return from_row(&row, object);
    case CFI_NONE:
        return (struct unwind_rule){.kind = RULE_NO_TABLE};
    default:
        return (struct unwind_rule){.kind = RULE_FULL};
    }
}

static bool
fits_words(int64_t offset)
{
    return offset % 8 == 0 && offset / 8 == (int16_t)(offset / 8);
}

/* Compute the offset of the saved rbp, for a CFA of register + offset. An offset of 0 words means
 * "unchanged". */
static bool
rbp_from_cfa(const struct cfi_rule *rbp, int16_t *ret_words)
{
    *ret_words = 0;
    if (rbp->how == CFI_UNSET || rbp->how == CFI_SAME)
        return true;
    if (rbp->how != CFI_AT_OFFSET || rbp->offset == 0 || !fits_words(rbp->offset))
        return false;
    *ret_words = (int16_t)(rbp->offset / 8);
    return true;
}

/* Read "REG + offset" from the code C of an expression and return the offset. */
static int64_t
read_offset(struct cursor *c, unsigned reg)
{
    if (cur_u8(c) != EXPR_BREG + reg)
        cur_fail(c);
    return cur_sleb(c);
}

/* Return true if RULE places the register in memory at the address REG + offset, and store the
 * offset. */
static bool
is_saved_at(const struct cfi_rule *rule, const struct unwind_object *object, unsigned reg,
            int64_t *ret_offset)
{
    struct cursor code = cfi_expression(rule, object);

    if (rule->how != CFI_AT_EXPRESSION)
        return false;
    *ret_offset = read_offset(&code, reg);
    return !code.bad && cur_left(&code) == 0;
}

/* Return true if the CFA is the word at REG + offset. */
static bool
is_cfa_at(const struct cfi_row *row, const struct unwind_object *object, unsigned reg,
          int64_t *ret_offset)
{
    struct cursor code = cfi_expression(&row->cfa, object);

    if (row->cfa.how != CFI_IS_EXPRESSION)
        return false;
    *ret_offset = read_offset(&code, reg);
    return cur_u8(&code) == EXPR_DEREF && !code.bad && cur_left(&code) == 0 &&
           *ret_offset == (int32_t)*ret_offset;
}

/* Compile the row of a function that realigned its stack: the CFA is *(rbp + a), and the caller's
 * rbp is at rbp + b. */
static bool
deref_rule(const struct cfi_row *row, const struct unwind_object *object, struct unwind_rule *rule)
{
    int64_t cfa_offset, rbp_offset;

    if (!is_cfa_at(row, object, UNWIND_RBP, &cfa_offset) ||
        !is_saved_at(&row->reg[UNWIND_RBP], object, UNWIND_RBP, &rbp_offset) ||
        !fits_words(rbp_offset))
        return false;
    rule->kind = RULE_RBP_DEREF;
    rule->cfa_offset = (int32_t)cfa_offset;
    rule->rbp_words = (int16_t)(rbp_offset / 8);
    return true;
}

/* Compile the row of the kernel's signal frame. All registers are at fixed offsets from rsp,
 * including rsp itself, which is also the CFA. The pc is in the word above it. */
static bool
signal_rule(const struct cfi_row *row, const struct unwind_object *object, struct unwind_rule *rule)
{
    int64_t offset[UNWIND_REGISTERS];
    int64_t cfa_offset;

    if (!is_cfa_at(row, object, UNWIND_RSP, &cfa_offset))
        return false;
    for (unsigned n = 0; n < UNWIND_REGISTERS; n++)
        if (!is_saved_at(&row->reg[n], object, UNWIND_RSP, &offset[n]))
            return false;
    if (offset[UNWIND_RSP] != cfa_offset || offset[UNWIND_PC] != cfa_offset + 8 ||
        !fits_words(offset[UNWIND_RBP]))
        return false;
    rule->kind = RULE_SIGNAL;
    rule->cfa_offset = (int32_t)cfa_offset;
    rule->rbp_words = (int16_t)(offset[UNWIND_RBP] / 8);
    return true;
}

static bool
simple_rule(const struct cfi_row *row, struct unwind_rule *rule)
{
    if (row->cfa.how != CFI_IN_REGISTER || !rbp_from_cfa(&row->reg[UNWIND_RBP], &rule->rbp_words))
        return false;
    if (row->cfa.reg != UNWIND_RSP && row->cfa.reg != UNWIND_RBP)
        return false;
    rule->kind = row->cfa.reg == UNWIND_RSP ? RULE_RSP : RULE_RBP;
    rule->cfa_offset = row->cfa.offset;
    return true;
}

/* Return true if rsp' is the CFA, and the return address is in the word below the CFA, where a call
 * instruction pushes it. */
static bool
is_ordinary_call(const struct cfi_row *row)
{
    const struct cfi_rule *pc = &row->reg[UNWIND_PC];

    return pc->how == CFI_AT_OFFSET && pc->offset == -8 && row->reg[UNWIND_RSP].how == CFI_UNSET;
}

static struct unwind_rule
from_row(const struct cfi_row *row, const struct unwind_object *object)
{
    struct unwind_rule rule = {.kind = RULE_FULL};

    if (row->reg[UNWIND_PC].how == CFI_UNDEFINED)
        return (struct unwind_rule){.kind = RULE_END};
    if (row->signal
            ? signal_rule(row, object, &rule)
            : is_ordinary_call(row) && (simple_rule(row, &rule) || deref_rule(row, object, &rule)))
        return rule;
    return (struct unwind_rule){.kind = RULE_FULL};
}
