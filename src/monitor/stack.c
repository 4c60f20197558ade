/* stack.c: from the return address of malloc to a node of the call tree, cheaply.
 *
 * A thread remembers its last stack, outermost frame first:
 *
 *     memo:    [0] _start … [j] parse … [n-1] xmalloc's caller         {slot, frame, rbp, node}
 *     checks:  the stack words that make it so: each frame's return address and, where a frame
 *              further out is found through rbp, the word that rbp was restored from, and the word
 *              in which a function that realigned its stack keeps its CFA
 *
 * A new event walks outwards by rules only until it meets a remembered frame (same slot, same
 * return address and, if it matters, same rbp), then reads the checks of the frames outside it.
 * If all hold, the rest of the stack is what it was, and so is its node: for a frame whose rule
 * starts from rsp, the next slot depends on nothing but (slot, return address); where it starts
 * from rbp, that value has been checked too. A realigned function may have the same slot and rbp
 * when its caller's stack begins elsewhere, so its CFA is compared as well. So it is exact by
 * induction, as right as the unwind tables. If a check fails, the frames inside it are still good
 * and the walk goes on from the one that changed.
 *
 * No word of the stack is ever modified. Frames are looked for on the thread's own stack only; on
 * any other (signal stacks, coroutines), and where a rule cannot say it, the walk is done in full
 * (walk.c) and the memo is left alone.
 *
 * Reads are safe: remembered slots lie on the thread's own stack, further out than the frame that
 * is executing; each step must move outwards and stay inside the stack.
 */
#include "monitor/stack.h"

#include "base/atomics.h"
#include "monitor/nodes.h"
#include "monitor/walk.h"

/* Why a walk ended. */
enum outcome {
    JOINED,   // Met the memo at index `join`.
    COMPLETE, // Reached the outermost frame.
    BROKEN,
    TOO_DEEP,
    NOT_HERE, // Only walk_full can do it.
};

struct walk {
    struct thread *t;
    struct stack_frame at; // The frame to look at next: slot, rbp and rbp_slot are set.
    uint32_t count;        // Of t->walked.
    int32_t join;          // Index into the memo that the walk has come to; -1 = beyond it.
};

READS_STACK static inline uint64_t
word(uint64_t address)
{
    return *(const uint64_t *)(uintptr_t)address;
}

/* The index of the outermost-reaching run of good checks: 0 if checks [0, COUNT) all hold, else 1
 * + the index of the innermost one that fails. */
static inline uint32_t
failing_check(const struct stack_check *checks, uint32_t count)
{
    uint32_t i = count;

    while (i >= 4) {
        const struct stack_check *c = &checks[i - 4];
        uint64_t differs = (word(c[0].address) ^ c[0].value) | (word(c[1].address) ^ c[1].value) |
                           (word(c[2].address) ^ c[2].value) | (word(c[3].address) ^ c[3].value);

        if (unlikely(differs))
            break;
        i -= 4;
    }
    for (; i > 0; i--)
        if (unlikely(word(checks[i - 1].address) != checks[i - 1].value))
            return i;
    return 0;
}

static inline void
push_walked(struct walk *w, uint64_t frame, uint8_t uses_rbp, uint8_t flags)
{
    struct stack_frame *f = &w->t->walked[w->count++];

    f->slot = w->at.slot;
    f->frame = frame;
    f->rbp = w->at.rbp;
    f->rbp_slot = w->at.rbp_slot;
    f->cfa_slot = w->at.cfa_slot;
    f->uses_rbp = uses_rbp;
    f->flags = flags;
}

/* Remembered frames from w->join out to the one that owns check CHECK - 1 are still there, but
 * that one has changed: take the good ones over and go on from the changed one. */
static COLD void
keep_until(struct walk *w, uint32_t check)
{
    struct thread *t = w->t;
    int32_t changed = w->join - 1;

    while (t->memo[changed].check_start >= check)
        changed--;
    for (int32_t i = w->join; i > changed; i--) {
        const struct stack_frame *f = &t->memo[i];

        w->at.slot = f->slot;
        if (i != w->join && f->rbp_slot) {
            w->at.rbp = word(f->rbp_slot);
            w->at.rbp_slot = f->rbp_slot;
        } else if (i != w->join) {
            w->at.rbp_slot = 0;
        }
        w->at.cfa_slot = f->cfa_slot;
        push_walked(w, f->frame, f->uses_rbp, f->flags);
    }
    w->at.slot = t->memo[changed].slot;
    w->at.rbp_slot = t->memo[changed].rbp_slot;
    if (w->at.rbp_slot)
        w->at.rbp = word(w->at.rbp_slot);
    w->join = changed - 1;
}

/* Does stepping out of remembered frame I still lead to the frame that is remembered outside it, as
 * far as that hangs on a word in which a CFA is kept? */
static inline bool
same_cfa(const struct thread *t, uint32_t i)
{
    const struct stack_frame *f = &t->memo[i];

    return likely(f->cfa_slot == 0 || i == 0) || word(f->cfa_slot) == t->memo[i - 1].slot + 8;
}

/* Does the memo, from w->join outwards, begin at the frame w->at? If so and all outside it holds:
 * true. */
static inline bool
meets_memo(struct walk *w)
{
    struct thread *t = w->t;

    for (;;) {
        const struct stack_frame *f;
        uint32_t failing;

        while (w->join >= 0 && t->memo[w->join].slot < w->at.slot)
            w->join--;
        if (w->join < 0)
            return false;
        f = &t->memo[w->join];
        if (f->slot != w->at.slot || (f->frame & DISK_ADDRESS_MASK) != word(w->at.slot) ||
            (f->needs_rbp && f->rbp != w->at.rbp) || !same_cfa(t, (uint32_t)w->join))
            return false;
        failing = failing_check(t->checks, f->check_start);
        if (likely(failing == 0))
            return true;
        if (w->count + (uint32_t)w->join + 1 >= LIMIT_DEPTH)
            return false; // No room to take frames over: walk on by rules until the limit.
        keep_until(w, failing);
    }
}

/* Move w->at out of the frame with rule R to its caller; false if that leaves the stack. */
static inline bool
step(struct walk *w, const struct unwind_rule *r)
{
    uint64_t high = w->t->stack_high;
    uint64_t slot = w->at.slot;
    uint64_t cfa, rbp_slot;

    if (likely(r->kind == RULE_RSP)) {
        cfa = slot + 8 + (uint64_t)(int64_t)r->cfa_offset;
    } else {
        cfa = w->at.rbp + (uint64_t)(int64_t)r->cfa_offset;
        if (r->kind == RULE_RBP_DEREF) {
            if (unlikely(cfa <= slot || cfa >= high || (cfa & 7)))
                return false;
            cfa = word(cfa);
        }
    }
    if (unlikely(cfa - 8 <= slot || cfa > high || (cfa & 7)))
        return false;
    w->at.rbp_slot = 0;
    if (r->rbp_words != 0 || r->kind == RULE_RBP_DEREF) {
        rbp_slot =
            (r->kind == RULE_RBP_DEREF ? w->at.rbp : cfa) + (uint64_t)(int64_t)r->rbp_words * 8;
        if (unlikely(rbp_slot <= slot || rbp_slot >= high || (rbp_slot & 7)))
            return false;
        w->at.rbp_slot = rbp_slot;
        w->at.rbp = word(rbp_slot);
    }
    w->at.slot = cfa - 8;
    return true;
}

/* Code without unwind information: the frame that a frame pointer would give, if it makes sense. */
static const struct unwind_rule guess = {.kind = RULE_RBP, .cfa_offset = 16, .rbp_words = -2};

/* The step out of the last walked frame by RULE left the stack. In a loaded object without unwind
 * information that is how stacks end (the dynamic linker's first instructions); anywhere else it
 * is our failure. */
static COLD enum outcome
breaks_off(struct walk *w, const struct unwind_rule *rule)
{
    struct stack_frame *last = &w->t->walked[w->count - 1];

    if (rule != &guess || last->frame >> DISK_ADDRESS_BITS == 0)
        return BROKEN;
    last->flags = 0;
    return COMPLETE;
}

static enum outcome
walk_out(struct walk *w)
{
    struct thread *t = w->t;

    for (;;) {
        const struct rule_entry *e;
        const struct unwind_rule *rule;
        uint64_t ra;

        if (meets_memo(w))
            return JOINED;
        ra = word(w->at.slot);
        if (unlikely(ra == 0))
            return COMPLETE;
        if (unlikely(w->count == LIMIT_DEPTH))
            return TOO_DEEP;
        e = rules_find(t->rules, ra);
        rule = &e->rule;
        w->at.cfa_slot = rule->kind == RULE_RBP_DEREF
                             ? w->at.rbp + (uint64_t)(int64_t)rule->cfa_offset
                             : 0;
        switch (rule->kind) {
        case RULE_RSP:
            push_walked(w, e->frame, 0, 0);
            break;
        case RULE_RBP:
        case RULE_RBP_DEREF:
            push_walked(w, e->frame, 1, 0);
            break;
        case RULE_END:
            push_walked(w, e->frame, 0, 0);
            return COMPLETE;
        case RULE_NO_TABLE:
            push_walked(w, e->frame, 1, DISK_NODE_GUESSED);
            rule = &guess;
            break;
        default:
            return NOT_HERE;
        }
        if (unlikely(!step(w, rule)))
            return breaks_off(w, rule);
    }
}

/* Remember F as the next frame inside PARENT's, with its checks. */
static inline uint32_t
remember(struct thread *t, const struct stack_frame *f, uint32_t parent)
{
    uint32_t i = t->memo_count++;
    struct stack_frame *m = &t->memo[i];

    *m = *f;
    m->node = nodes_child(parent, f->frame, f->flags);
    m->check_start = t->check_count;
    m->needs_rbp =
        f->uses_rbp || (i > 0 && t->memo[i - 1].needs_rbp && t->memo[i - 1].rbp_slot == 0);
    t->checks[t->check_count++] = (struct stack_check){f->slot, f->frame & DISK_ADDRESS_MASK};
    if (f->cfa_slot && i > 0)
        t->checks[t->check_count++] = (struct stack_check){f->cfa_slot, t->memo[i - 1].slot + 8};
    if (m->needs_rbp && f->rbp_slot)
        t->checks[t->check_count++] = (struct stack_check){f->rbp_slot, f->rbp};
    return m->node;
}

/* The frame that the walk met was reached in another way than before: its rbp may come from
 * elsewhere now. */
static inline void
rejoin(struct walk *w)
{
    struct thread *t = w->t;
    struct stack_frame *m = &t->memo[w->join];

    t->memo_count = (uint32_t)w->join + 1;
    t->check_count = m->check_start + 1 + (m->cfa_slot && w->join > 0);
    m->rbp = w->at.rbp;
    m->rbp_slot = w->at.rbp_slot;
    if (m->needs_rbp && m->rbp_slot)
        t->checks[t->check_count++] = (struct stack_check){m->rbp_slot, m->rbp};
}

/* The stack is deeper than the memo: forget its outer frames, all but those that leave half of it
 * free. */
static COLD uint32_t
cut_memo(struct walk *w)
{
    struct thread *t = w->t;
    uint32_t keep = LIMIT_DEPTH / 2 > w->count ? LIMIT_DEPTH / 2 - w->count : 0;
    uint32_t from = t->memo_count > keep ? t->memo_count - keep : 0;
    uint32_t to = t->memo_count;
    uint32_t parent = DISK_NODE_TRUNCATED;

    t->memo_count = t->check_count = 0;
    for (uint32_t i = from; i < to; i++) {
        struct stack_frame f = t->memo[i];

        parent = remember(t, &f, parent);
    }
    return parent;
}

uint32_t
stack_node(struct thread *t, struct arch_caller caller)
{
    struct walk w = {
        .t = t,
        .at = {.slot = caller.slot, .rbp = caller.rbp},
        .join = (int32_t)t->memo_count - 1,
    };
    uint32_t parent = DISK_NODE_ROOT;

    if (unlikely(caller.slot < t->stack_low || caller.slot >= t->stack_high) &&
        !walk_own_stack(t, caller.slot))
        return walk_full(t, caller);
    switch (walk_out(&w)) {
    case JOINED:
        bump_by(&t->disk->frames_reused, (uint64_t)w.join + 1);
        rejoin(&w);
        parent = t->memo[w.join].node;
        break;
    case NOT_HERE:
        return walk_full(t, caller);
    case BROKEN:
        parent = DISK_NODE_BROKEN;
        t->memo_count = t->check_count = 0;
        break;
    case TOO_DEEP:
        parent = DISK_NODE_TRUNCATED;
        t->memo_count = t->check_count = 0;
        break;
    case COMPLETE:
        bump(&t->disk->full_unwinds);
        t->memo_count = t->check_count = 0;
        break;
    }
    bump_by(&t->disk->frames_unwound, w.count);
    if (unlikely(t->memo_count + w.count > LIMIT_DEPTH))
        parent = cut_memo(&w);
    for (uint32_t i = w.count; i > 0; i--)
        parent = remember(t, &t->walked[i - 1], parent);
    return parent;
}
