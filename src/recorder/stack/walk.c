/* walk.c: walks whole stacks with all registers.
 *
 * This walk is the fallback where the fast walk of stack.c cannot proceed: at signal frames, at
 * functions whose frame needs a register other than rsp and rbp, and on stacks other than the
 * thread's own (alternate signal stacks, coroutines). The walk starts from the registers of a
 * function in this file and steps out through the recorder's frames until it has left the
 * intercepted function.
 *
 * Cached rules step out of most frames here too: a handler that allocates must be done before its
 * next signal. Rules restore only rsp, rbp and pc. If no rule can express a frame, the walk first
 * uses the tables with these three registers. If they do not suffice, the tables repeat the walk
 * from the latest frame with all registers: the first frame, or the latest signal frame, which has
 * them in memory. So rsp, rbp and pc have the values that the tables define, and rbp is known
 * exactly where the tables define it.
 *
 * Only events use the thread's own cache of rules. A search for signal frames runs before an event
 * begins. Another event may interrupt the search while it fills in a rule, so the search uses only
 * the second level. */
#include "stack/walk.h"

#include "account/nodes.h"
#include "base/atomics.h"
#include "platform/sys.h"
#include "stack/bounds.h"
#include "stack/path_ids.h"
#include "stack/stack_state.h"
#include "unwind/function.h"

/* Step by the frame pointer if no table covers the code. Return false if the frame pointer is
 * implausible. */
static bool
guess_step(struct unwind_registers *r, const struct unwind_bounds *b)
{
    uint64_t rbp = r->r[UNWIND_RBP], outer, pc;

    if (!(r->valid >> UNWIND_RBP & 1) || (rbp & 7) || rbp < r->r[UNWIND_RSP] ||
        !unwind_read(b, rbp, &outer) || !unwind_read(b, rbp + 8, &pc) || pc == 0)
        return false;
    r->r[UNWIND_RBP] = outer;
    r->r[UNWIND_PC] = pc;
    r->r[UNWIND_RSP] = rbp + 16;
    r->exact = false;
    return true;
}

enum outcome {
    WALK_ON,
    WALK_ENDS,
    WALK_LACKS_TABLE, // The stack ends in code without unwind tables, and no guess leads out of it.
    WALK_BREAKS,
};

/* State of a walk outwards. The walk's first frame is the function that began it. */
struct walk {
    struct thread *t;
    struct bounds bounds;
    struct unwind_registers r;       // Registers of the present frame; at least rsp, rbp and pc.
    struct unwind_registers whole;   // All registers, of the present frame or an earlier one.
    uint32_t at, whole_at;           // Numbers of these two frames.
    bool uncertain, whole_uncertain; // A step on the way to that frame was guessed.
    bool needs_more;                 // Some frame needed more than a rule, or was a signal's.
    struct rule_entry *rules;        // The thread's cache; NULL = use only the second level.
    struct rule_entry entry;         // Scratch for rules outside the cache.
};

/* No call pushes the address at which a function starts: makecontext stored it, as the start of a
 * coroutine. */
COLD bool
walk_is_whole(const struct thread *t, uint64_t slot, uint64_t ra)
{
    return bounds_is_outermost(t, slot) || unwind_function(ra) == ra;
}

/* Guess the caller, because no table covers R's pc. If the guess fails, the stack ends here (see
 * breaks_off in stack.c). */
static enum outcome
step_blindly(const struct thread *t, struct unwind_registers *r, const struct unwind_bounds *b,
             bool *ret_guessed)
{
    struct unwind_object o;

    *ret_guessed = guess_step(r, b);
    if (*ret_guessed)
        return WALK_ON;
    if (unwind_find_object(unwind_lookup(r), &o))
        return walk_is_whole(t, r->r[UNWIND_RSP] - 8, r->r[UNWIND_PC]) ? WALK_ENDS
                                                                       : WALK_LACKS_TABLE;
    *ret_guessed = true; // The flag states why the callers are unknown.
    return WALK_BREAKS;
}

/* Like step_blindly, with the bounds for a guess. */
static enum outcome
step_without_table(struct bounds *bounds, struct unwind_registers *r, bool *ret_guessed)
{
    struct unwind_bounds b;

    if (!bounds_at(bounds, r->r[UNWIND_RSP], r->exact, true, &b))
        return WALK_BREAKS;
    return step_blindly(bounds->t, r, &b, ret_guessed);
}

/* Step outwards by the tables. Set *RET_GUESSED if this step was a guess. UNCERTAIN: an earlier
 * step was a guess. */
static enum outcome
step_by_tables(struct bounds *bounds, struct unwind_registers *r, bool uncertain, bool *ret_guessed)
{
    struct unwind_bounds b;

    *ret_guessed = false;
    if (!bounds_at(bounds, r->r[UNWIND_RSP], r->exact, uncertain, &b))
        return WALK_BREAKS;
    switch (unwind_step(r, &b)) {
    case UNWIND_STEPPED:
        return WALK_ON;
    case UNWIND_END:
        return WALK_ENDS;
    case UNWIND_NO_TABLE:
        return step_without_table(bounds, r, ret_guessed);
    default:
        return WALK_BREAKS;
    }
}

/* Step W out of a frame that needs registers which the rules did not restore: repeat all steps by
 * the tables, from the latest frame with all registers. */
static enum outcome
step_whole(struct walk *w, bool *ret_guessed)
{
    enum outcome outcome;

    do {
        outcome = step_by_tables(&w->bounds, &w->whole, w->whole_uncertain, ret_guessed);
        w->whole_uncertain |= *ret_guessed;
    } while (outcome == WALK_ON && w->whole_at++ < w->at);
    w->r = w->whole;
    return outcome;
}

/* Step W, within the bounds B, out of a frame that no rule can express. */
static enum outcome
step_full(struct walk *w, const struct unwind_bounds *b, bool *ret_guessed)
{
    if (w->at == w->whole_at)
        return step_whole(w, ret_guessed);
    switch (unwind_step(&w->r, b)) {
    case UNWIND_STEPPED:
        return w->r.valid >> UNWIND_RBP & 1 ? WALK_ON : step_whole(w, ret_guessed);
    case UNWIND_END:
        return WALK_ENDS;
    default:
        return step_whole(w, ret_guessed);
    }
}

/* Return the present frame of W and its rule, valid until the next call. An interrupted instruction
 * is looked up by the address after it, like a return address. */
static inline const struct rule_entry *
rule_at(struct walk *w)
{
    uint64_t pc = w->r.r[UNWIND_PC];

    if (likely(w->rules != NULL) && likely(!w->r.exact))
        return rules_find(w->rules, pc);
    rules_fill(&w->entry, pc + w->r.exact);
    w->entry.frame = (w->entry.frame & ~DISK_ADDRESS_MASK) | (pc & DISK_ADDRESS_MASK);
    return &w->entry;
}

static enum outcome
step_by_rule(struct walk *w, const struct unwind_rule *rule, bool *ret_guessed)
{
    struct unwind_bounds b;

    if (!bounds_of_own(&w->bounds, w->r.r[UNWIND_RSP], w->r.exact, &b) &&
        !bounds_at(&w->bounds, w->r.r[UNWIND_RSP], w->r.exact, w->uncertain, &b))
        return WALK_BREAKS;
    switch (rule->kind) {
    case RULE_END:
        return WALK_ENDS;
    case RULE_NO_TABLE:
        return step_without_table(&w->bounds, &w->r, ret_guessed);
    case RULE_FULL:
        return step_full(w, &b, ret_guessed);
    case RULE_SIGNAL:
        // A signal frame has all registers, so the tables can restart from here.
        w->whole = w->r;
        w->whole_at = w->at;
        w->whole_uncertain = w->uncertain;
        break;
    default:
        break;
    }
    switch (unwind_step_by_rule(&w->r, rule, &b)) {
    case UNWIND_STEPPED:
        return WALK_ON;
    case UNWIND_END:
        return WALK_ENDS;
    default:
        return WALK_BREAKS;
    }
}

/* Step W outwards by RULE. Set *RET_GUESSED if this step was a guess. */
static enum outcome
step_out(struct walk *w, const struct unwind_rule *rule, bool *ret_guessed)
{
    enum outcome outcome;

    *ret_guessed = false;
    outcome = step_by_rule(w, rule, ret_guessed);
    w->uncertain |= *ret_guessed;
    w->at++;
    return outcome;
}

/* Begin W with the registers captured in W->whole. The current function belongs to the recorder,
 * and the return address of the recorder's caller is at SLOT. */
static void
walk_start(struct walk *w, struct thread *t, uint64_t slot, struct rule_entry *rules)
{
    w->t = t;
    bounds_begin(&w->bounds, t, w->whole.r[UNWIND_RSP], slot);
    w->rules = rules;
    w->r = w->whole;
    w->at = w->whole_at = 0;
    w->uncertain = w->whole_uncertain = w->needs_more = false;
}

/* Step out of the recorder's own frames to the caller of the intercepted function. The return
 * address to that caller is at SLOT. */
static bool
leave_recorder(struct walk *w, uint64_t slot)
{
    bool guessed;

    while (w->r.r[UNWIND_RSP] <= slot)
        if (step_out(w, &rule_at(w)->rule, &guessed) != WALK_ON)
            return false;
    return w->r.r[UNWIND_RSP] == slot + 8;
}

COLD enum walk_between
walk_between(struct thread *t, uint64_t slot, uint64_t end)
{
    bool guessed, any_guessed = false;
    struct walk w;

    unwind_capture(&w.whole);
    walk_start(&w, t, slot, NULL);
    if (!leave_recorder(&w, slot))
        return WALK_UNKNOWN;
    for (uint32_t i = 0; i < LIMIT_DEPTH && !w.r.exact && w.r.r[UNWIND_RSP] <= end; i++) {
        if (step_out(&w, &rule_at(&w)->rule, &guessed) != WALK_ON)
            return WALK_UNKNOWN;
        any_guessed |= guessed;
    }
    if (w.r.exact)
        return WALK_SIGNAL;
    if (w.r.r[UNWIND_RSP] <= end || any_guessed)
        return WALK_UNKNOWN;
    return w.r.r[UNWIND_RSP] == end + 8 ? WALK_CALLS : WALK_PASSES;
}

/* Store the frames from W outwards in its thread's `walked`, and their number in *RET_COUNT. */
static enum outcome
walk_outwards(struct walk *w, uint32_t *ret_count)
{
    enum outcome outcome;
    uint32_t count = 0;
    bool guessed;

    do {
        struct stack_frame *f = &w->t->walked[count++];
        const struct rule_entry *e = rule_at(w);

        f->frame = e->frame;
        f->slot = w->r.r[UNWIND_RSP] - 8;
        f->flags = w->r.exact ? DISK_NODE_EXACT : 0;
        w->needs_more |= e->rule.kind == RULE_FULL || e->rule.kind == RULE_SIGNAL;
        outcome = step_out(w, &e->rule, &guessed);
        f->flags |= guessed || outcome == WALK_LACKS_TABLE ? DISK_NODE_GUESSED : 0;
    } while (outcome == WALK_ON && count < stack_state()->depth_max);
    *ret_count = count;
    return outcome;
}

/* Return the end of the pages on which W's COUNT frames lie, the innermost one at SLOT. Return 0 if
 * rules alone do not step out of all frames, or if these are on several stacks. */
static uint64_t
end_of_pages(const struct walk *w, uint64_t slot, uint32_t count)
{
    const struct unwind_reach *reach = &w->bounds.reach;

    if (w->needs_more || w->uncertain || slot < reach->low ||
        w->t->walked[count - 1].slot >= reach->high)
        return 0;
    return reach->high;
}

COLD uint32_t
walk_full(struct thread *t, struct arch_caller caller)
{
    struct walk w;
    enum outcome outcome = WALK_BREAKS;
    uint32_t parent = DISK_NODE_ROOT;
    uint32_t count = 1;

    unwind_capture(&w.whole);
    walk_start(&w, t, caller.slot, t->rules);
    bump(&t->disk->full_unwinds);
    if (leave_recorder(&w, caller.slot)) {
        outcome = walk_outwards(&w, &count);
    } else {
        // The stack cannot be walked, but its innermost frame is known: the caller.
        t->walked[0].frame = rules_find(t->rules, *(const uint64_t *)(uintptr_t)caller.slot)->frame;
        t->walked[0].slot = caller.slot;
        t->walked[0].flags = 0;
    }
    bump_by(&t->disk->frames_unwound, count);
    t->walked_end = outcome != WALK_BREAKS ? end_of_pages(&w, caller.slot, count) : 0;
    if (outcome == WALK_BREAKS || outcome == WALK_LACKS_TABLE)
        parent = DISK_NODE_BROKEN;
    else if (outcome == WALK_ON)
        parent = DISK_NODE_TRUNCATED;
    t->walked_root = parent;
    t->walked_count = count;
    if (t->merges)
        return DISK_NODE_OTHER;
    for (uint32_t i = count; i > 0; i--)
        parent = nodes_child(parent, t->walked[i - 1].frame, t->walked[i - 1].flags);
    return parent != DISK_NODE_OTHER ? parent : path_ids_walked(t, count, 0, t->walked_root);
}
