/* rule.c: from a row of the unwind table to the eight-byte rule the hot path runs on.
 *
 * Nearly all code moves its CFA with rsp or rbp, leaves the return address at CFA - 8 and either
 * does not touch rbp or saves it near the CFA. That is all a rule can say. A row qualifies only if
 * the rule gives exactly what unwind_step would give for rsp, rbp and the return address; any doubt
 * makes it RULE_FULL.
 *
 * Other callee-saved registers are not tracked by rules. An outer frame whose CFA needs one is
 * RULE_FULL, and its stepping starts again from captured registers.
 *
 * Signal-safe; no state.
 */
#include "unwind/cfi.h"

enum {
    EXPR_BREG_RBP = 0x70 + UNWIND_RBP, // DW_OP_breg6, a signed offset follows.
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

/* Where rbp is for a CFA that is register + offset; 0 words is taken to say "unchanged". */
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

/* Read "rbp + offset", the beginning of the expression in C. */
static int64_t
read_rbp_offset(struct cursor *c)
{
    if (cur_u8(c) != EXPR_BREG_RBP)
        cur_fail(c);
    return cur_sleb(c);
}

/* A function that realigned its stack: CFA = *(rbp + a), the caller's rbp in memory at rbp + b. */
static bool
deref_rule(const struct cfi_row *row, const struct unwind_object *object, struct unwind_rule *rule)
{
    const struct cfi_rule *rbp = &row->reg[UNWIND_RBP];
    struct cursor cfa_code = cfi_expression(&row->cfa, object);
    struct cursor rbp_code = cfi_expression(rbp, object);
    int64_t cfa_offset, rbp_offset;

    if (rbp->how != CFI_AT_EXPRESSION)
        return false;
    cfa_offset = read_rbp_offset(&cfa_code);
    if (cur_u8(&cfa_code) != EXPR_DEREF || cfa_code.bad || cur_left(&cfa_code) > 0)
        return false;
    rbp_offset = read_rbp_offset(&rbp_code);
    if (rbp_code.bad || cur_left(&rbp_code) > 0)
        return false;
    if (cfa_offset != (int32_t)cfa_offset || !fits_words(rbp_offset))
        return false;
    rule->kind = RULE_RBP_DEREF;
    rule->cfa_offset = (int32_t)cfa_offset;
    rule->rbp_words = (int16_t)(rbp_offset / 8);
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

/* rsp' = CFA, and the return address is where a call instruction puts it. */
static bool
is_ordinary_call(const struct cfi_row *row)
{
    const struct cfi_rule *pc = &row->reg[UNWIND_PC];

    return !row->signal && pc->how == CFI_AT_OFFSET && pc->offset == -8 &&
           row->reg[UNWIND_RSP].how == CFI_UNSET;
}

static struct unwind_rule
from_row(const struct cfi_row *row, const struct unwind_object *object)
{
    struct unwind_rule rule = {.kind = RULE_FULL};

    if (row->reg[UNWIND_PC].how == CFI_UNDEFINED)
        return (struct unwind_rule){.kind = RULE_END};
    if (!is_ordinary_call(row))
        return rule;
    if (simple_rule(row, &rule))
        return rule;
    if (row->cfa.how == CFI_IS_EXPRESSION && deref_rule(row, object, &rule))
        return rule;
    return (struct unwind_rule){.kind = RULE_FULL};
}
