/* stack.c: finds the call tree's node for the stack of an event, mostly without a full walk.
 *
 * A thread stores its last stack in its memo, outermost frame first:
 *
 *     memo:    [1] _start … [j] parse … [n] xmalloc's caller           {slot, frame, rbp, node}
 *     checks:  the stack words that prove it: each frame's return address and, where a frame
 *              further out is found through rbp, the word that rbp was restored from, and the word
 *              in which a function that realigned its stack keeps its CFA
 *
 * A new event walks outwards by rules only until it meets a frame of the memo: same slot, same
 * return address and, if the frame depends on it, same rbp. Then it reads the checks of the frames
 * outside that frame. If all checks hold, the rest of the stack is unchanged, and so is its node.
 * For a frame whose rule starts from rsp, the next slot depends only on (slot, return address).
 * Where the rule starts from rbp, a check covers the value of rbp as well. A realigned function may
 * have the same slot and rbp when its caller's stack begins elsewhere, so its CFA is compared as
 * well. By induction, the result is exact if the unwind tables are right. If a check fails, the
 * frames inside the changed frame are reused, and the walk continues at the changed frame.
 *
 * Not every stack should replace the memo: programs alternate between stacks that share all but
 * their innermost frames. A short walk leaves the memo unchanged. The walk's checks are stored
 * beside the memo as a variant stack, which begins at the joining frame: the memo frame that the
 * walk met. When the same stack occurs again, these checks prove it without rules or the call tree.
 * Three lookups predict the variant stack. The first returns the variant that last followed the
 * same few stacks at the same innermost frame. The second returns the latest variant at that frame.
 * The third hashes the innermost frames. A stack that occurs many times in a row, or whose walk was
 * long, replaces the memo.
 *
 * Deep stacks. A memo of LIMIT_MEMO frames that needs more drops its outer frames, down to
 * LIMIT_DEPTH: it is *cut*. When a stack meets a cut memo so far out that fewer than LIMIT_DEPTH
 * frames would be recorded, the outer frames are walked again, up to LIMIT_WALK. So each stack has
 * all its frames, or at least the innermost LIMIT_DEPTH. After a cut the memo has room for
 * LIMIT_MEMO - LIMIT_DEPTH more calls. After a second walk it has room for LIMIT_WALK - LIMIT_DEPTH
 * returns, and for as many calls. So the cost for each call or return is a few frames.
 *
 *     0                LIMIT_DEPTH      LIMIT_WALK       LIMIT_MEMO
 *     |---------------------|----------------|----------------|
 *        walk again ──────────────────────►
 *                           ◄──────────────────────────── cut
 *
 * No word of the stack is ever modified. The memo and the variant stacks cover the thread's own
 * stack only. On any other stack (signal stacks, coroutines), and where no rule applies, walk.c
 * walks the whole stack and leaves the memo unchanged.
 *
 * Reads are safe: the memo's slots are on the thread's own stack, further out than the executing
 * frame. Each step must move outwards and stay inside the stack. */
#include "stack/stack.h"

#include "account/account_state.h"
#include "account/nodes.h"
#include "base/atomics.h"
#include "stack/bounds.h"
#include "stack/coroutines.h"
#include "stack/memo.h"
#include "stack/outwards.h"
#include "stack/path_ids.h"
#include "stack/stack_state.h"
#include "stack/walk.h"

enum {
    KEY_FRAMES = 6, // Number of innermost frames in the hash of a variant stack.
    KEY_NOT_KNOWN = STACK_VARIANTS,
    KEY_REMEMBER, // Pseudo key: store the stack in the memo, not as a variant.
};

/* A counter that no block fits. */
static struct disk_counter no_counter = {.size_min = UINT64_MAX / 2, .size_max = UINT64_MAX / 2};

struct stack_target
stack_target_of(uint32_t node, uint32_t frames, uint32_t stamp)
{
    static_assert(DISK_SIZE_CLASSES == 4, "the list");
    return (struct stack_target){
        .sites = account_state()->nodes[node].site,
        .frames = frames,
        .stamp = stamp,
        .counter = {&no_counter, &no_counter, &no_counter, &no_counter},
    };
}

/* Why a walk ended. */
enum outcome {
    JOINED,   // The walk met the memo at `join`.
    COMPLETE, // The walk reached the outermost frame.
    NO_TABLE, // The walk reached code without unwind tables, and no guess leads out of it.
    BROKEN,
    TOO_DEEP,
    NOT_HERE, // Only walk_full can walk this stack.
};

struct walk {
    struct thread *t;
    // The next frame to examine.
    uint64_t slot, rbp;
    uint64_t rbp_slot;        // The word that rbp was restored from on the way here, or 0.
    struct stack_frame *next; // The next free place in t->walked.
    struct stack_frame *end;
    struct stack_frame *join; // The memo frame that the walk has reached, or t->memo.
    bool used_rbp;            // True if some step may have used a rule other than RULE_RSP.
};

static inline uint32_t
walked_count(const struct walk *w)
{
    return (uint32_t)(w->next - w->t->walked);
}

/* Reuse the memo frames inside the changed frame, and move W to the changed frame. Requires that a
 * memo frame outside w->join has changed. */
static NOINLINE void
keep_good(struct walk *w)
{
    struct stack_frame *changed = w->join - 1;
    uint32_t check = w->join->check_start;

    while (check > CHECKS_RESERVED && check_passes(&w->t->checks[check - 1]))
        check--;
    while (changed->check_start >= check)
        changed--;
    w->used_rbp = true; // Some of the reused frames may have used rbp.
    for (const struct stack_frame *f = w->join; f > changed; f--) {
        if (f != w->join) {
            w->rbp_slot = f->rbp_slot;
            if (f->rbp_slot)
                w->rbp = stack_word(f->rbp_slot);
        }
        *w->next = *f;
        w->next->rbp = w->rbp;
        w->next->rbp_slot = w->rbp_slot;
        w->next++;
    }
    w->slot = changed->slot;
    w->rbp_slot = changed->rbp_slot;
    if (w->rbp_slot)
        w->rbp = stack_word(w->rbp_slot);
    w->join = changed - 1;
}

/* Return true if memo frame F still leads to the next outer frame of the memo. Compares the CFA, if
 * F keeps its CFA in a word. */
static inline bool
same_cfa(const struct thread *t, const struct stack_frame *f)
{
    return likely(f->cfa_slot == 0) || f - 1 == t->memo ||
           stack_word(f->cfa_slot) == f[-1].slot + 8;
}

/* Rule for code without unwind information: follow the frame pointer if its value is plausible. */
static const struct unwind_rule guess = {.kind = RULE_RBP, .cfa_offset = 16, .rbp_words = -2};

/* Return the outcome after the step out of the last walked frame by RULE left the stack. If code
 * without unwind tables belongs to a loaded object, the stack ends there. If it is not whole, the
 * flag of a guess remains, and states why the callers are unknown. Anywhere else the walk has
 * failed. */
static COLD enum outcome
breaks_off(const struct walk *w, const struct unwind_rule *rule)
{
    struct stack_frame *last = w->next - 1;

    if (rule != &guess || last->frame >> DISK_ADDRESS_BITS == 0)
        return BROKEN;
    if (!walk_is_whole(w->t, w->slot, last->frame & DISK_ADDRESS_MASK))
        return NO_TABLE;
    last->flags = 0;
    return COMPLETE;
}

/* Return the CFA that a function with a realigned stack keeps in the word at FROM (RULE_RBP_DEREF).
 * Return 0 if FROM is not a word of the stack. */
static inline uint64_t
deref_cfa(uint64_t from, uint64_t slot, uint64_t high)
{
    return from > slot && from < high && (from & 7) == 0 ? stack_word(from) : 0;
}

/* Return true if the memo frame F equals FRAME, the current frame of W. */
static inline bool
stack_is_frame(const struct walk *w, const struct stack_frame *f, uint64_t frame)
{
    return f->slot == w->slot && f->frame == frame && (f->rbp == w->rbp || !f->needs_rbp) &&
           same_cfa(w->t, f);
}

/* Compare the memo with W. W is at the slot of w->join, in the frame FRAME. Return true if w->join
 * is the same frame and no frame outside it has changed. If a frame has changed, and the frames
 * inside it can be reused, move W to the innermost changed frame, set *RET_MOVED and return false.
 * Otherwise just return false. */
static inline bool
meets_memo(struct walk *w, uint64_t frame, bool *ret_moved)
{
    *ret_moved = false;
    if (!stack_is_frame(w, w->join, frame))
        return false;
    if (likely(checks_pass(w->t->checks, w->join->check_start)))
        return true;
    // Reuse the unchanged frames only if they fit in the depth limit. Otherwise walk by rules up to
    // the limit.
    if (w->join - w->t->memo < w->end - w->next) {
        keep_good(w);
        *ret_moved = true;
    }
    return false;
}

/* Like step_rsp, for kind RULE_RBP_DEREF. Store the address of the word that contains the CFA in
 * *RET_CFA_SLOT. */
static NOINLINE bool
step_deref(uint64_t slot, uint64_t rbp, const struct unwind_rule *rule, uint64_t high,
           uint64_t *ret_cfa_slot, struct outer *ret)
{
    *ret_cfa_slot = rbp + (uint64_t)(int64_t)rule->cfa_offset;
    ret->slot = deref_cfa(*ret_cfa_slot, slot, high) - 8;
    ret->rbp_slot = rbp + (uint64_t)((int64_t)rule->rbp_words * 8);
    if (!is_further_out(ret->slot, slot, high - 8) ||
        !is_further_out(ret->rbp_slot, slot, high - 8))
        return false;
    ret->rbp = stack_word(ret->rbp_slot);
    return true;
}

/* Append the frame of W, whose rule is E, to the walked frames. */
static inline struct stack_frame *
put_walked(struct walk *w, const struct rule_entry *e)
{
    struct stack_frame *f = w->next++;

    f->slot = w->slot;
    f->frame = e->frame;
    f->rbp = w->rbp;
    f->rbp_slot = w->rbp_slot;
    f->cfa_slot = 0;
    f->uses_rbp = e->rule.kind != RULE_RSP;
    f->flags = 0;
    return f;
}

static inline void
move_out(struct walk *w, const struct outer *outer)
{
    w->slot = outer->slot;
    w->rbp = outer->rbp;
    w->rbp_slot = outer->rbp_slot;
}

/* W is on a stack other than the thread's own, in code without unwind information. Return true
 * unless walk_full would certainly end here. */
static inline bool
may_guess(const struct walk *w)
{
    return w->rbp > w->slot && w->rbp < w->t->stack_high + BOUNDS_DOUBTFUL_BYTES &&
           (w->rbp & 7) == 0;
}

/* Append the frame of W to the walked ones and move W to its caller. E is its rule, of another kind
 * than RULE_RSP. Return false if the walk ends here, with its outcome in *RET. */
static NOINLINE bool
step_other(struct walk *w, const struct rule_entry *e, enum outcome *ret)
{
    const uint64_t high = w->t->stack_high;
    const struct unwind_rule *rule = &e->rule;
    struct stack_frame *f;
    struct outer outer;
    bool stays;

    if ((rule->kind > RULE_RBP_DEREF && rule->kind != RULE_END && rule->kind != RULE_NO_TABLE) ||
        (rule->kind == RULE_NO_TABLE && w->t->is_coroutine && may_guess(w))) {
        *ret = NOT_HERE;
        return false;
    }
    w->used_rbp = true;
    f = put_walked(w, e);
    if (rule->kind == RULE_END) {
        f->uses_rbp = false;
        *ret = COMPLETE;
        return false;
    }
    if (rule->kind == RULE_NO_TABLE) {
        rule = &guess;
        f->flags = DISK_NODE_GUESSED;
    }
    if (likely(rule->kind == RULE_RBP))
        stays = step_rbp(w->slot, w->rbp, rule, high, &outer);
    else
        stays = step_deref(w->slot, w->rbp, rule, high, &f->cfa_slot, &outer);
    if (unlikely(!stays)) {
        *ret = breaks_off(w, rule);
        return false;
    }
    move_out(w, &outer);
    return true;
}

/* Walk from *SHARED outwards until the walk meets the memo or the stack ends. The function works on
 * a copy of *SHARED, which the compiler can keep in registers. It writes the copy back before calls
 * that change it, and reads it again after them. */
static INLINE enum outcome
stack_walk_out(struct walk *shared)
{
    struct walk w = *shared;
    enum outcome outcome;

    for (;;) {
        uint64_t ra = stack_word(w.slot);
        const struct rule_entry *e;
        struct outer outer;
        bool moved;

        if (unlikely(ra == 0)) {
            outcome = COMPLETE;
            break;
        }
        e = rules_find(w.t->rules, ra);
        while (w.join->slot < w.slot)
            w.join--;
        if (w.join->slot == w.slot) {
            *shared = w;
            if (meets_memo(shared, e->frame, &moved))
                return JOINED;
            w = *shared;
            if (moved)
                continue;
        }
        if (unlikely(w.next == w.end)) {
            outcome = TOO_DEEP;
            break;
        }
        if (likely(e->rule.kind == RULE_RSP)) {
            put_walked(&w, e);
            if (unlikely(!step_rsp(w.slot, w.rbp, &e->rule, w.t->stack_high, &outer))) {
                outcome = BROKEN;
                break;
            }
            move_out(&w, &outer);
            continue;
        }
        *shared = w;
        if (unlikely(!step_other(shared, e, &outcome)))
            return outcome;
        w = *shared;
    }
    *shared = w;
    return outcome;
}

/* Store F in the memo at M, one place further in than its caller. NODE is the node of F's path.
 * Append F's checks at C and return the end of the checks. */
static inline struct stack_check *
stack_remember(const struct thread *t, struct stack_frame *m, struct stack_check *c,
               const struct stack_frame *f, uint32_t node)
{
    const struct stack_frame *outer = m - 1;

    m->slot = f->slot;
    m->frame = f->frame;
    m->rbp = f->rbp;
    m->rbp_slot = f->rbp_slot;
    m->cfa_slot = f->cfa_slot;
    m->uses_rbp = f->uses_rbp;
    m->flags = f->flags;
    m->node = node;
    m->check_start = (uint32_t)(c - t->checks);
    m->needs_rbp = f->uses_rbp || (outer->needs_rbp && outer->rbp_slot == 0);
    *c++ = (struct stack_check){f->slot, f->frame & DISK_ADDRESS_MASK};
    if (unlikely(f->cfa_slot) && outer != t->memo)
        *c++ = (struct stack_check){f->cfa_slot, outer->slot + 8};
    if (m->needs_rbp && f->rbp_slot)
        *c++ = (struct stack_check){f->rbp_slot, f->rbp};
    return c;
}

/* Add the walked frames to the memo, from the outermost in. PARENT is the node of the innermost
 * frame in the memo before the call. Return the node of the innermost frame after it. */
static uint32_t
remember_walked(struct walk *w, uint32_t parent)
{
    struct thread *t = w->t;
    struct stack_frame *m = &t->memo[t->memo_count];
    struct stack_check *c = &t->checks[t->check_count];

    for (const struct stack_frame *f = w->next; f-- > t->walked;) {
        parent = nodes_child(parent, f->frame, f->flags);
        c = stack_remember(t, ++m, c, f, parent);
    }
    if (unlikely(parent == DISK_NODE_OTHER))
        path_ids_assign(t, t->memo_count + 1, (uint32_t)(m - t->memo));
    t->memo_count = (uint32_t)(m - t->memo);
    t->check_count = (uint32_t)(c - t->checks);
    return parent;
}

/* Update the memo frame at which the walk met the memo, because rbp may have been restored from
 * another word than before. Drop the frames inside it, and return its node. */
static inline uint32_t
rejoin(struct walk *w)
{
    struct thread *t = w->t;
    struct stack_frame *m = w->join;

    t->memo_count = (uint32_t)(m - t->memo);
    if (t->memo_same > t->memo_count)
        t->memo_same = t->memo_count;
    t->check_count = m->check_start + 1 + (m->cfa_slot && m - 1 != t->memo);
    m->rbp = w->rbp;
    m->rbp_slot = w->rbp_slot;
    if (m->needs_rbp && m->rbp_slot)
        t->checks[t->check_count++] = (struct stack_check){m->rbp_slot, m->rbp};
    t->frames_reused += t->memo_count;
    return path_ids_parent(m->node);
}

/* Return the root of a stack whose walk ended with OUTCOME. */
static inline uint32_t
root_of(enum outcome outcome)
{
    if (outcome == COMPLETE)
        return DISK_NODE_ROOT;
    return outcome == TOO_DEEP ? DISK_NODE_TRUNCATED : DISK_NODE_BROKEN;
}

/* Return the parent for nodes of C frames under ROOT. There is none in a thread whose stacks get
 * frames of a language. */
static inline uint32_t
parent_at(const struct thread *t, uint32_t root)
{
    return likely(!t->merges) ? root : (uint32_t)DISK_NODE_OTHER;
}

/* Return the number of frames that T's memo may have. In a thread whose stacks get frames of a
 * language, it is the number of C frames that language_natives.c may store. */
static inline uint32_t
memo_limit(const struct thread *t)
{
    return likely(!t->merges) ? LIMIT_MEMO : LIMIT_DEPTH;
}

/* Drop outer frames of the memo, because the stack is deeper than the memo. Afterwards about half
 * of the memo is free with W's frames, unless W has more. Return the node of the memo's innermost
 * frame. */
static COLD uint32_t
cut_memo(struct walk *w)
{
    struct thread *t = w->t;
    uint32_t count = walked_count(w);
    uint32_t most = likely(!t->merges) ? LIMIT_DEPTH : LIMIT_DEPTH / 2;
    uint32_t keep = most > count ? most - count : 0;
    uint32_t kept = t->memo_count < keep ? t->memo_count : keep;
    uint32_t gone = t->memo_count - kept;
    struct stack_check *c = &t->checks[CHECKS_RESERVED];
    uint32_t parent = parent_at(t, DISK_NODE_TRUNCATED);

    memo_forget(t);
    t->memo_root = DISK_NODE_TRUNCATED;
    for (uint32_t i = 1; i <= kept; i++) {
        struct stack_frame f = t->memo[gone + i];

        parent = nodes_child(parent, f.frame, f.flags);
        c = stack_remember(t, &t->memo[i], c, &f, parent);
    }
    if (parent == DISK_NODE_OTHER)
        path_ids_assign(t, 1, kept);
    t->memo_count = kept;
    t->check_count = (uint32_t)(c - t->checks);
    t->memo_is_cut = true;
    return parent;
}

/* Make the innermost frame of the memo, whose node is NODE, the leaf. Return its target. */
static inline struct stack_target *
remember_leaf(struct thread *t, uint32_t node)
{
    const struct stack_frame *leaf = &t->memo[t->memo_count];

    if (unlikely(node == DISK_NODE_OTHER))
        node = path_ids_leaf(t);
    t->leaf_slot = leaf->slot;
    t->leaf_rbp = leaf->rbp;
    t->leaf_needs_rbp = leaf->needs_rbp;
    t->leaf = stack_target_of(node, t->memo_count, ++t->stamps);
    t->memo_version++;
    t->history = 0;
    return &t->leaf;
}

/* Return the first of the two places in t->variant_at for the stack that called from CALLER. The
 * key covers frames only up to a rule that is not in the thread's cache. So it may differ next
 * time, which costs only time. */
static inline uint32_t
variant_key(struct thread *t, struct arch_caller caller)
{
    struct outer at = {.slot = caller.slot, .rbp = caller.rbp};
    uint64_t key = at.slot;
    bool stays = true;

    for (int i = 0; i < KEY_FRAMES && stays; i++) {
        uint64_t ra = stack_word(at.slot);
        const struct rule_entry *e = rules_slot(t->rules, ra);

        key = (key ^ ra) * UINT64_C(0x9e3779b97f4a7c15);
        if (unlikely(e->frame << (64 - DISK_ADDRESS_BITS) != ra << (64 - DISK_ADDRESS_BITS)))
            break;
        if (likely(e->rule.kind == RULE_RSP))
            stays = step_rsp(at.slot, at.rbp, &e->rule, t->stack_high, &at);
        else
            stays =
                e->rule.kind == RULE_RBP && step_rbp(at.slot, at.rbp, &e->rule, t->stack_high, &at);
    }
    static_assert(STACK_VARIANTS == 1 << (64 - 54), "the hash");
    return (uint32_t)(key >> 54);
}

/* Append the checks of W's frames, from the outermost in, to the N checks of P. Return the new
 * number of checks. Return 0 if there is no room, or if a frame keeps its CFA in a word. */
static inline uint32_t
checks_of_walked(struct stack_variant *p, const struct walk *w, uint32_t n, bool *needs_rbp)
{
    uint64_t rbp_slot = w->rbp_slot;

    if (*needs_rbp && rbp_slot)
        p->checks[n++] = (struct stack_check){rbp_slot, w->rbp};
    for (const struct stack_frame *f = w->next; f-- > w->t->walked;) {
        *needs_rbp = f->uses_rbp || (*needs_rbp && rbp_slot == 0);
        rbp_slot = f->rbp_slot;
        if (n + 2 > VARIANT_CHECKS || f->cfa_slot != 0)
            return 0;
        p->checks[n++] = (struct stack_check){f->slot, f->frame & DISK_ADDRESS_MASK};
        if (*needs_rbp && rbp_slot)
            p->checks[n++] = (struct stack_check){rbp_slot, f->rbp};
    }
    return n;
}

/* Like checks_of_walked, if the joining frame and all frames inside it do not need rbp. */
static inline uint32_t
direct_checks_of_walked(struct stack_variant *p, const struct walk *w, uint32_t n)
{
    struct stack_check *c = &p->checks[n];

    if (n + walked_count(w) > VARIANT_CHECKS)
        return 0;
    for (const struct stack_frame *f = w->next; f-- > w->t->walked; c++)
        *c = (struct stack_check){f->slot, f->frame & DISK_ADDRESS_MASK};
    return (uint32_t)(c - p->checks);
}

/* Fill in P, except for its slot and target, from W, a walk that met the memo or ended without
 * meeting it. Return false if there is no room, or if a frame keeps its CFA in a word. */
static inline bool
fill_variant(struct stack_variant *p, const struct walk *w, struct arch_caller caller)
{
    const struct stack_frame *join = w->join;
    bool needs_rbp = join->needs_rbp;
    uint32_t n = 0;

    if (likely(join != w->t->memo))
        p->checks[n++] = (struct stack_check){join->slot, join->frame & DISK_ADDRESS_MASK};
    if (likely(!needs_rbp) && likely(!w->used_rbp))
        n = direct_checks_of_walked(p, w, n);
    else
        n = checks_of_walked(p, w, n, &needs_rbp);
    if (unlikely(n == 0)) // W has no frame, or too many.
        return false;
    for (; n % CHECK_GROUP != 0; n++)
        p->checks[n] = p->checks[0];
    p->rbp = caller.rbp;
    p->needs_rbp = needs_rbp;
    p->check_count = (uint8_t)n;
    p->join_slot = join->slot;
    p->join_rbp = w->rbp;
    p->join_node = join->node;
    p->version = w->t->memo_version;
    p->outer_checks = join->check_start;
    p->join = (uint16_t)(join - w->t->memo);
    return join->cfa_slot == 0;
}

/* Store P's root, and a bit for each check that is a return address, for language_natives.c. */
static COLD void
note_frames(struct stack_variant *p, const struct walk *w, uint32_t root)
{
    const struct stack_frame *f = w->next - 1;

    p->root = (uint8_t)root;
    p->slots = 0;
    for (uint32_t i = p->join != 0; i < p->check_count && f >= w->t->walked; i++) {
        if (p->checks[i].address != f->slot)
            continue;
        p->slots |= (uint16_t)(1 << i);
        f--;
    }
}

/* Predict variant stack I, which called from CALLER, for the next event in the same context. */
static inline void
foresee(struct thread *t, uint32_t i, struct arch_caller caller)
{
    t->predicted[stack_context(t, caller)] = (uint16_t)i;
    t->latest[stack_innermost(caller)] = (uint16_t)i;
}

/* Return the index for a variant stack with KEY. If one of the two places for KEY is free, the
 * index is new. Otherwise replace one of the two variant stacks: the one with the older version of
 * the memo, or either if the versions are equal. */
static inline uint32_t
take_variant_place(struct thread *t, uint32_t key)
{
    uint32_t i = t->variant_at[key], other = t->variant_at[key ^ 1];

    if (likely(i != 0) && likely(other != 0)) {
        uint64_t seen = t->variants[i].version, other_seen = t->variants[other].version;

        if (seen == other_seen)
            return (t->history & 1) != 0 ? i : other;
        return seen < other_seen ? i : other;
    }
    // Keep this order: if a handler jumps out of here, every variant stack still has a place.
    key ^= i != 0;
    t->variant_at[key] = (uint16_t)(t->variant_count + 1);
    signal_fence();
    return ++t->variant_count;
}

/* Store the stack of W as a variant stack and return its target. NODE is the parent of the
 * outermost walked frame. Return NULL if the stack must go into the memo: the walk was long, the
 * CFA of a frame is stored in the stack, or KEY is KEY_REMEMBER. A variant stack costs less than a
 * change of the memo, which other stacks still use. */
static INLINE struct stack_target *
stack_pass(const struct walk *w, struct arch_caller caller, uint32_t key, uint32_t node,
           uint32_t root)
{
    struct thread *t = w->t;
    struct stack_variant *p;
    uint32_t i;

    if (key == KEY_REMEMBER || walked_count(w) > VARIANT_CHECKS)
        return NULL;
    i = take_variant_place(t, key != KEY_NOT_KNOWN ? key : variant_key(t, caller));
    p = &t->variants[i];
    // Mark the variant as unused until it is complete, because a handler may jump out of here.
    p->slot = 0;
    signal_fence();
    if (!fill_variant(p, w, caller))
        return NULL;
    for (const struct stack_frame *f = w->next; f-- > t->walked;)
        node = nodes_child(node, f->frame, f->flags);
    if (unlikely(node == DISK_NODE_OTHER)) {
        note_frames(p, w, root);
        node = path_ids_walked(t, walked_count(w), p->join, root);
    }
    p->target = stack_target_of(node, p->join + walked_count(w), ++t->stamps);
    signal_fence();
    p->slot = caller.slot;
    t->frames_reused += p->join;
    foresee(t, i, caller);
    t->history = stack_history(t, i);
    return &p->target;
}

/* Return the target of the stack that called from CALLER by a complete walk. */
static COLD struct stack_target *
walk_whole(struct thread *t, struct arch_caller caller)
{
    t->uncached = stack_target_of(walk_full(t, caller), 0, 0);
    return &t->uncached;
}

/* Return true if the stack of a walk that ended with OUTCOME needs walk_full. T may be the memo of
 * stacks other than the thread's own: these may continue beyond the proved bounds. */
static inline bool
needs_full(const struct thread *t, enum outcome outcome)
{
    return unlikely(outcome == NOT_HERE) || (unlikely(outcome == BROKEN) && t->is_coroutine);
}

/* Return the target of a stack that only walk_full can walk; NULL if T is the memo of stacks other
 * than the thread's own. */
static COLD struct stack_target *
walk_uncached(struct thread *t, struct arch_caller caller)
{
    return t->is_coroutine ? NULL : walk_whole(t, caller);
}

/* walk_to_target when depth_max is below the limit: one more inner frame means one less outer
 * frame, so no part of the memo can be reused. */
static COLD struct stack_target *
walk_few(struct walk *w, struct arch_caller caller, uint32_t key)
{
    struct thread *t = w->t;
    struct stack_target *target;
    enum outcome outcome;
    uint32_t root;

    w->join = t->memo;
    w->end = t->walked + stack_state()->depth_max;
    outcome = stack_walk_out(w);
    if (needs_full(t, outcome))
        return walk_uncached(t, caller);
    bump_by(&t->disk->frames_unwound, walked_count(w));
    root = root_of(outcome);
    target = stack_pass(w, caller, key, parent_at(t, root), root);
    if (target != NULL)
        return target;
    memo_forget(t);
    t->memo_root = root;
    return remember_leaf(t, remember_walked(w, parent_at(t, root)));
}

/* Return true if the memo lacks outer frames, W met the memo, and too few frames would be
 * recorded. */
static inline bool
is_cut_short(const struct walk *w, enum outcome outcome)
{
    uint32_t least = likely(!w->t->merges) ? LIMIT_DEPTH : LIMIT_DEPTH / 4;

    return unlikely(w->t->memo_is_cut) && outcome == JOINED &&
           (uint32_t)(w->join - w->t->memo) + walked_count(w) < least;
}

/* Walk the stack that called from CALLER without the memo, which is dropped, and store the walk in
 * W. */
static COLD enum outcome
walk_again(struct walk *w, struct arch_caller caller)
{
    struct thread *t = w->t;

    memo_forget(t);
    *w = (struct walk){
        .t = t,
        .slot = caller.slot,
        .rbp = caller.rbp,
        .next = t->walked,
        .end = t->walked + (t->merges ? LIMIT_DEPTH : LIMIT_WALK),
        .join = t->memo,
    };
    return stack_walk_out(w);
}

/* Store the whole stack of W as a variant stack with KEY, if it is short: coroutines alternate, and
 * each replacement of the memo costs more. Return its target, or NULL. */
static COLD struct stack_target *
pass_whole(struct walk *w, struct arch_caller caller, uint32_t key, uint32_t root)
{
    w->join = w->t->memo;
    return stack_pass(w, caller, key, parent_at(w->t, root), root);
}

/* Walk the stack that called from CALLER. Store it as a variant stack with KEY, or in the memo.
 * Return its target. */
static HOT NOINLINE struct stack_target *
walk_to_target(struct thread *t, struct arch_caller caller, uint32_t key)
{
    struct walk w = {
        .t = t,
        .slot = caller.slot,
        .rbp = caller.rbp,
        .next = t->walked,
        .end = t->walked + LIMIT_DEPTH,
        .join = &t->memo[t->memo_count],
    };
    struct stack_target *whole;
    uint32_t parent;
    enum outcome outcome;

    if (unlikely(caller.slot & 7))
        return walk_uncached(t, caller);
    if (unlikely(stack_state()->depth_max != LIMIT_DEPTH))
        return walk_few(&w, caller, key);
    outcome = stack_walk_out(&w);
    if (is_cut_short(&w, outcome))
        outcome = walk_again(&w, caller);
    if (needs_full(t, outcome))
        return walk_uncached(t, caller);
    bump_by(&t->disk->frames_unwound, walked_count(&w));
    if (unlikely(t->is_coroutine) && (outcome == COMPLETE || outcome == NO_TABLE) &&
        (whole = pass_whole(&w, caller, key, root_of(outcome))) != NULL)
        return whole;
    if (likely(outcome == JOINED)) {
        struct stack_target *target =
            stack_pass(&w, caller, key, path_ids_parent(w.join->node), t->memo_root);

        if (likely(target != NULL))
            return target;
        parent = rejoin(&w);
    } else {
        memo_forget(t);
        if (outcome == COMPLETE || outcome == NO_TABLE)
            bump(&t->disk->full_unwinds);
        t->memo_root = root_of(outcome);
        parent = parent_at(t, t->memo_root);
        t->memo_is_cut = outcome == TOO_DEEP;
    }
    if (unlikely(t->memo_count + walked_count(&w) > memo_limit(t)))
        parent = cut_memo(&w);
    return remember_leaf(t, remember_walked(&w, parent));
}

/* Return the target of variant stack I, which called from CALLER. Return NULL if the stack must go
 * into the memo instead. */
static inline struct stack_target *
passes(struct thread *t, uint32_t i, struct arch_caller caller)
{
    uint32_t history = stack_history(t, i);

    if (unlikely(history == t->history))
        return NULL;
    foresee(t, i, caller);
    t->history = history;
    t->frames_reused += t->variants[i].target.frames;
    return &t->variants[i].target;
}

/* Return true if variant stack I is the stack that called from CALLER. WITHIN: T is the memo of
 * stacks other than the thread's own, so all its checks must be within the proved bounds. The first
 * is the outermost one. */
static inline bool
is_variant(const struct thread *t, struct stack_variant *p, struct arch_caller caller, bool within)
{
    return (!within || p->checks[0].address < t->stack_high) && stack_is_variant(t, p, caller);
}

/* Find the stack that called from CALLER among the variant stacks of T, or walk it. The slot is
 * within T's stack. */
static INLINE struct stack_target *
find_or_walk(struct thread *t, struct arch_caller caller, bool within)
{
    struct stack_target *target;
    uint32_t key, i = t->latest[stack_innermost(caller)];

    if (!is_variant(t, &t->variants[i], caller, within)) {
        key = variant_key(t, caller);
        if (!is_variant(t, &t->variants[i = t->variant_at[key]], caller, within) &&
            !is_variant(t, &t->variants[i = t->variant_at[key ^ 1]], caller, within))
            return walk_to_target(t, caller, key);
    }
    target = passes(t, i, caller);
    return likely(target != NULL) ? target : walk_to_target(t, caller, KEY_REMEMBER);
}

/* Return the target of the stack that called from CALLER, which is not on T's own stack. */
static COLD struct stack_target *
find_elsewhere(struct thread *t, struct arch_caller caller)
{
    struct thread *m = coroutines_enter(t, caller.slot);
    struct stack_target *target = NULL;

    if (likely(m != NULL)) {
        if (stack_is_leaf(m, caller)) {
            m->frames_reused += m->leaf.frames;
            target = &m->leaf;
        } else {
            target = find_or_walk(m, caller, true);
        }
        coroutines_leave(t);
    }
    if (unlikely(target == NULL)) {
        target = walk_whole(t, caller);
        coroutines_note(t, caller.slot);
    }
    return target;
}

/* A stack of STACK_CYCLES_MAX was interrupted. */
enum { STACK_CYCLES_MAX = 150000 };

/* Like stack_target_miss, and add the cost to T's sum. */
static COLD struct stack_target *
miss_timed(struct thread *t, struct arch_caller caller)
{
    uint64_t began = arch_cycles(), cycles;
    struct stack_target *target;

    if (likely(stack_is_own(t, caller)))
        target = find_or_walk(t, caller, false);
    else if ((caller.slot & 7) == 0 && bounds_own_stack(t, caller.slot))
        target = walk_to_target(t, caller, KEY_NOT_KNOWN);
    else
        target = find_elsewhere(t, caller);
    cycles = arch_cycles() - began;
    if (cycles < STACK_CYCLES_MAX)
        t->whole_cycles += cycles;
    return target;
}

HOT struct stack_target *
stack_target_miss(struct thread *t, struct arch_caller caller)
{
    if (unlikely(stack_state()->timed))
        return miss_timed(t, caller);
    if (likely(stack_is_own(t, caller)))
        return find_or_walk(t, caller, false);
    if ((caller.slot & 7) == 0 && bounds_own_stack(t, caller.slot))
        return walk_to_target(t, caller, KEY_NOT_KNOWN);
    return find_elsewhere(t, caller);
}
