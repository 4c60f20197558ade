/* step.c: steps out of any frame that the tables can describe, with all registers.
 *
 * It is the slow counterpart of a rule, with three uses: the first frame, whose registers were
 * captured; frames that a rule cannot express; and tests, where it is the reference for rules. Each
 * step looks up the pc without a cache.
 *
 * A register of the caller is known in two cases: a rule of the row finds it, or no rule mentions
 * it, it is callee-saved, and it was known in the callee. A rule that needs an unknown register
 * ends the walk: a guess would look like a real stack.
 *
 * unwind_step_by_rule does the same with a rule. It makes the same checks in the same order, so
 * that both walks of one stack end in the same way. It need not check the CFA against the bounds,
 * because it checks the return address just below the CFA.
 *
 * Invariants: R changes only when a whole step succeeds. Stack words are read within the bounds
 * only. The new rsp is above the old one and within the bounds, so a walk over a finite stack ends.
 * (It is the CFA, except in a few hand-written functions.) Only a signal frame may lead to lower
 * addresses, because its handler may have run on another stack. So the caller must limit the number
 * of steps of a walk across signal frames.
 *
 * Signal-safe; no state.
 */
#include "unwind/rule.h"

#include "unwind/cfi.h"

struct step {
    const struct unwind_registers *callee;
    const struct unwind_bounds *bounds;
    const struct unwind_object *object;
    uint64_t cfa;
};

static const uint32_t callee_saved = 1u << UNWIND_RBX | 1u << UNWIND_RBP | 0xfu << 12;

static enum unwind_step_result step_row(struct unwind_registers *r,
                                        const struct unwind_bounds *bounds,
                                        const struct unwind_object *object,
                                        const struct cfi_row *row);

enum unwind_step_result
unwind_step(struct unwind_registers *r, const struct unwind_bounds *bounds)
{
    struct unwind_object object;

    if (!unwind_find_object(unwind_lookup(r), &object))
        return UNWIND_NO_TABLE;
    return unwind_step_in(r, bounds, &object);
}

enum unwind_step_result
unwind_step_in(struct unwind_registers *r, const struct unwind_bounds *bounds,
               const struct unwind_object *object)
{
    struct cfi_row row;

    switch (cfi_row_at(unwind_lookup(r), object, &row)) {
    case CFI_FOUND:
        return step_row(r, bounds, object, &row);
    case CFI_NONE:
        return UNWIND_NO_TABLE;
    default:
        return UNWIND_BAD;
    }
}

static bool
step_known(const struct unwind_registers *r, unsigned reg)
{
    return r->valid >> reg & 1;
}

static bool
in_register(const struct step *s, const struct cfi_rule *rule, uint64_t *ret_value)
{
    *ret_value = s->callee->r[rule->reg] + (uint64_t)(int64_t)rule->offset;
    return step_known(s->callee, rule->reg);
}

static bool
evaluate(const struct step *s, const struct cfi_rule *rule, const uint64_t *first,
         uint64_t *ret_value)
{
    struct cursor code = cfi_expression(rule, s->object);

    return expression_eval(code, s->callee, s->bounds, first, ret_value);
}

static bool
find_cfa(struct step *s, const struct cfi_rule *rule)
{
    if (rule->how == CFI_IN_REGISTER)
        return in_register(s, rule, &s->cfa);
    if (rule->how == CFI_IS_EXPRESSION)
        return evaluate(s, rule, NULL, &s->cfa);
    return false;
}

/* Return the value of the register that RULE restores. */
static bool
find_value(const struct step *s, const struct cfi_rule *rule, uint64_t *ret_value)
{
    uint64_t address = s->cfa + (uint64_t)(int64_t)rule->offset;

    switch (rule->how) {
    case CFI_AT_OFFSET:
        return unwind_read(s->bounds, address, ret_value);
    case CFI_IS_OFFSET:
        *ret_value = address;
        return true;
    case CFI_AT_EXPRESSION:
        return evaluate(s, rule, &s->cfa, &address) && unwind_read(s->bounds, address, ret_value);
    case CFI_IS_EXPRESSION:
        return evaluate(s, rule, &s->cfa, ret_value);
    default:
        return false;
    }
}

/* Store register N of the caller in NEXT, if it is known. */
static void
step_register(const struct step *s, unsigned n, const struct cfi_rule *rule,
              struct unwind_registers *next)
{
    uint64_t value = s->callee->r[n];
    bool found = false;

    switch (rule->how) {
    case CFI_UNSET:
        found = n == UNWIND_RSP || (step_known(s->callee, n) && callee_saved >> n & 1);
        if (n == UNWIND_RSP)
            value = s->cfa;
        break;
    case CFI_SAME:
        found = step_known(s->callee, n);
        break;
    case CFI_IN_REGISTER:
        found = in_register(s, rule, &value);
        break;
    default:
        found = find_value(s, rule, &value);
    }
    next->r[n] = value;
    next->valid |= (uint32_t)found << n;
}

static bool
is_sane(const struct step *s, const struct cfi_row *row, const struct unwind_registers *next)
{
    uint64_t old = s->callee->r[UNWIND_RSP];
    uint64_t rsp = next->r[UNWIND_RSP];

    if (!step_known(next, UNWIND_RSP))
        return false;
    // Do not check rsp: the interrupted code may run on another stack. The caller sets the bounds
    // for the next step.
    if (row->signal)
        return true;
    if (rsp < s->bounds->low || rsp > s->bounds->high)
        return false;
    // After longjmp has moved rsp to its target, its row still gives the target as the caller's
    // rsp, so both are equal. Only an interrupt can show this state, so it occurs once in a walk.
    if (s->callee->exact && row->reg[UNWIND_RSP].how != CFI_UNSET && rsp == old)
        return true;
    return rsp > old;
}

static enum unwind_step_result
step_row(struct unwind_registers *r, const struct unwind_bounds *bounds,
         const struct unwind_object *object, const struct cfi_row *row)
{
    struct step s = {.callee = r, .bounds = bounds, .object = object};
    struct unwind_registers next;

    if (row->reg[UNWIND_PC].how == CFI_UNDEFINED)
        return UNWIND_END;
    if (!step_known(r, UNWIND_RSP) || !find_cfa(&s, &row->cfa))
        return UNWIND_BAD;
    next.valid = 0;
    next.exact = row->signal;
    for (unsigned n = 0; n < UNWIND_REGISTERS; n++)
        step_register(&s, n, &row->reg[n], &next);
    if (!step_known(&next, UNWIND_PC))
        return UNWIND_BAD;
    if (next.r[UNWIND_PC] == 0)
        return UNWIND_END;
    if (!is_sane(&s, row, &next))
        return UNWIND_BAD;
    *r = next;
    return UNWIND_STEPPED;
}

/* Compute the CFA by RULE. */
static bool
find_rule_cfa(const struct unwind_registers *r, const struct unwind_rule *rule,
              const struct unwind_bounds *bounds, uint64_t *ret_cfa)
{
    unsigned base = rule->kind == RULE_RSP ? UNWIND_RSP : UNWIND_RBP;
    uint64_t cfa = r->r[base] + (uint64_t)(int64_t)rule->cfa_offset;

    if (!step_known(r, base) || (rule->kind == RULE_RBP_DEREF && !unwind_read(bounds, cfa, &cfa)))
        return false;
    *ret_cfa = cfa;
    return true;
}

/* Return true if RULE restores the caller's rbp, and store its value. */
static bool
find_rule_rbp(const struct unwind_registers *r, const struct unwind_rule *rule,
              const struct unwind_bounds *bounds, uint64_t cfa, uint64_t *ret_rbp)
{
    uint64_t from = rule->kind == RULE_RBP_DEREF ? r->r[UNWIND_RBP] : cfa;

    *ret_rbp = r->r[UNWIND_RBP];
    if (rule->rbp_words == 0 && rule->kind != RULE_RBP_DEREF)
        return step_known(r, UNWIND_RBP);
    return unwind_read(bounds, from + (uint64_t)(int64_t)rule->rbp_words * 8, ret_rbp);
}

/* Store the caller's registers in R. Only RSP, PC and, if known, RBP are valid. */
static void
step_put_known(struct unwind_registers *r, uint64_t rsp, uint64_t pc, uint64_t rbp, bool rbp_known)
{
    r->r[UNWIND_RSP] = rsp;
    r->r[UNWIND_PC] = pc;
    r->r[UNWIND_RBP] = rbp;
    r->valid = 1u << UNWIND_RSP | 1u << UNWIND_PC | (uint32_t)rbp_known << UNWIND_RBP;
}

static enum unwind_step_result
step_by_signal_rule(struct unwind_registers *r, const struct unwind_rule *rule,
                    const struct unwind_bounds *bounds)
{
    uint64_t old = r->r[UNWIND_RSP];
    uint64_t at = old + (uint64_t)(int64_t)rule->cfa_offset;
    uint64_t rsp, pc, rbp = 0;
    bool rbp_known;

    if (!step_known(r, UNWIND_RSP) || !unwind_read(bounds, at, &rsp) ||
        !unwind_read(bounds, at + 8, &pc))
        return UNWIND_BAD;
    if (pc == 0)
        return UNWIND_END;
    rbp_known = unwind_read(bounds, old + (uint64_t)(int64_t)rule->rbp_words * 8, &rbp);
    step_put_known(r, rsp, pc, rbp, rbp_known);
    r->exact = true;
    return UNWIND_STEPPED;
}

enum unwind_step_result
unwind_step_by_rule(struct unwind_registers *r, const struct unwind_rule *rule,
                    const struct unwind_bounds *bounds)
{
    uint64_t cfa, pc, rbp;
    bool rbp_known;

    if (rule->kind == RULE_SIGNAL)
        return step_by_signal_rule(r, rule, bounds);
    if (!step_known(r, UNWIND_RSP) || !find_rule_cfa(r, rule, bounds, &cfa) ||
        !unwind_read(bounds, cfa - 8, &pc))
        return UNWIND_BAD;
    if (pc == 0)
        return UNWIND_END;
    if (cfa <= r->r[UNWIND_RSP])
        return UNWIND_BAD;
    rbp_known = find_rule_rbp(r, rule, bounds, cfa, &rbp);
    step_put_known(r, cfa, pc, rbp, rbp_known);
    r->exact = false;
    return UNWIND_STEPPED;
}
