/* short.c: from the return address of malloc to a node for the allocation site alone.
 *
 * With --callers most stacks are short: they end at the first frame outside wrappers, the site.
 * Usually that is the innermost frame. Nothing is verified, because a return address names its
 * frame whatever the rest of the stack is. Each thread keeps a table from return addresses to
 * targets:
 *
 *     ra of malloc ─► site? its target
 *                  └► wrapper: the rule that leads to its caller, and a stamp
 *     (stamp, ra of the wrapper) ─► the same
 *
 * A stamp identifies the frames further in, so two words find an entry behind any number of
 * frames. A displaced entry that is added again gets a new stamp. Entries with the old stamp are
 * then never found.
 *
 * A site ends early, inside a wrapper, if the step to the caller needs an unusual rule or leaves
 * the thread's stack. */
#include "stack/short.h"

#include <string.h>

#include "account/account_state.h"
#include "account/nodes.h"
#include "base/atomics.h"
#include "platform/mem.h"
#include "stack/bounds.h"
#include "stack/outwards.h"
#include "stack/stack.h"
#include "stack/stack_state.h"
#include "stack/walk.h"
#include "stack/wrappers.h"

enum {
    SHORT_FRAMES = 16, // Most frames of a site; a further wrapper counts as the site.
    SHORT_ENTRIES = 8192,
    NO_STAMP = 0,
};

/* A frame of a site. */
struct short_key {
    uint64_t ra;
    struct unwind_rule rule; // Leads from a wrapper to its caller; RULE_NONE: the outermost frame.
    uint32_t inner;          // Stamp of the frame inside this one; NO_STAMP = none.
    uint32_t stamp;          // NO_STAMP = unused.
    uint64_t last;           // A wrapper, but the outermost frame.
};
static_assert(sizeof(struct short_key) == 32, "two keys to a cache line");

struct short_table {
    struct short_key keys[SHORT_ENTRIES];
    // By index in `keys`: of the outermost frames.
    struct stack_target targets[SHORT_ENTRIES + 1]; // The last is short_whole's.
    uint32_t stamps; // The latest stamp.
};

bool
short_start(struct thread *t)
{
    t->shorts = mem_private(sizeof *t->shorts);
    return t->shorts != NULL;
}

COLD void
short_forget(struct thread *t)
{
    if (t->shorts != NULL)
        memset(t->shorts->keys, 0, sizeof t->shorts->keys);
}

bool
short_has(const struct thread *t, const struct stack_target *target)
{
    return t->shorts != NULL &&
           (uintptr_t)target - (uintptr_t)t->shorts->targets < sizeof t->shorts->targets;
}

static inline uint32_t
short_index(uint64_t ra, uint32_t inner)
{
    static_assert(SHORT_ENTRIES == 1 << (64 - 51), "the hash");
    return (uint32_t)(((ra ^ (uint64_t)inner << 40) * UINT64_C(0x9e3779b97f4a7c15)) >> 51);
}

/* Step with AT out of a wrapper's frame by RULE. Return false if that leaves T's own stack. */
static inline bool
short_step(const struct thread *t, const struct unwind_rule *rule, struct outer *at)
{
    uint64_t slot = at->slot;

    if (unlikely(slot - t->stack_low >= t->stack_high - t->stack_low))
        return false;
    return likely(rule->kind == RULE_RSP)
               ? step_rsp(slot, at->rbp, rule, t->stack_high, at)
               : step_rbp(slot, at->rbp, rule, t->stack_high, at);
}

/* Return true if the frame E is a wrapper's and leads to its caller, which *AT then is. DEPTH is
 * the number of frames inside it. */
static bool
leads_out(struct thread *t, const struct rule_entry *e, uint32_t depth, struct outer *at)
{
    struct outer next = *at;

    if (depth + 1 == SHORT_FRAMES || (e->rule.kind != RULE_RSP && e->rule.kind != RULE_RBP) ||
        !wrappers_have(t, e->frame) || !short_step(t, &e->rule, &next) ||
        stack_word(next.slot) == 0)
        return false;
    *at = next;
    return true;
}

/* Return the tag of NODE, a stack, for blocks of T; NODE itself without room for it. */
static uint32_t
short_tag(const struct thread *t, uint32_t node)
{
    return node == DISK_NODE_OTHER ? node : nodes_tag(node, DISK_TAG_CALLERS, t->callers_period);
}

struct stack_target *
short_whole(struct thread *t, uint32_t node)
{
    struct stack_target *target = &t->shorts->targets[SHORT_ENTRIES];

    *target = stack_target_of(short_tag(t, node), 0, 0);
    return target;
}

/* Return the node of the COUNT frames of a site of T, innermost first. */
static uint32_t
short_node(const struct thread *t, const uint64_t *frames, uint32_t count)
{
    uint32_t node = load_relaxed(&stack_state()->short_root);

    if (node == 0) {
        node = nodes_child(DISK_NODE_TRUNCATED,
                           nodes_named((uint32_t)(DISK_CALLERS_UNRECORDED & DISK_ADDRESS_MASK)),
                           NODES_USE(NODES_TAG));
        if (node != DISK_NODE_OTHER)
            store_relaxed(&stack_state()->short_root, node);
    }
    // Sites are few, and must be recorded to the last.
    while (count-- > 0)
        node = nodes_child(node, frames[count], NODES_USE(NODES_SHORT + 3));
    return short_tag(t, node);
}

/* Store RA, inside the frames with the stamp INNER, as a wrapper that RULE leads out of, or with
 * RULE_NONE as the outermost frame. Return its place. */
static uint32_t
short_put(struct short_table *s, uint64_t ra, uint32_t inner, struct unwind_rule rule, bool last)
{
    uint32_t i = short_index(ra ^ (uint64_t)last << 63, inner);
    struct short_key *k = &s->keys[i];

    if (k->stamp != NO_STAMP && k->ra == ra && k->inner == inner && k->last == last &&
        k->rule.kind == rule.kind)
        return i;
    // Unused until it is complete: a handler may jump out of here.
    store_relaxed(&k->stamp, (uint32_t)NO_STAMP);
    signal_fence();
    k->ra = ra;
    k->rule = rule;
    k->inner = inner;
    k->last = last;
    signal_fence();
    store_relaxed(&k->stamp, ++s->stamps);
    return i;
}

/* Walk the site that called from CALLER, and store it. */
static NOINLINE struct stack_target *
short_make(struct thread *t, struct arch_caller caller)
{
    struct short_table *s = t->shorts;
    struct outer at = {.slot = caller.slot, .rbp = caller.rbp};
    uint64_t frames[SHORT_FRAMES];
    uint32_t count = 0, inner = NO_STAMP, node, i;
    bool last;

    if (unlikely(s->stamps >= UINT32_MAX - SHORT_FRAMES)) {
        short_forget(t);
        s->stamps = NO_STAMP;
    }
    if (!stack_is_own(t, caller))
        bounds_own_stack(t, caller.slot);
    for (;;) {
        uint64_t ra = stack_word(at.slot);
        const struct rule_entry e = *rules_find(t->rules, ra);
        bool wraps;

        frames[count] = e.frame;
        wraps = leads_out(t, &e, count, &at);
        // On another stack, or at another depth, the same frame may lead to its caller.
        last = !wraps && wrappers_have(t, e.frame);
        count++;
        i = short_put(s, ra, inner, wraps ? e.rule : (struct unwind_rule){.kind = RULE_NONE}, last);
        if (!wraps)
            break;
        inner = s->keys[i].stamp;
    }
    node = short_node(t, frames, count);
    s->targets[i] = stack_target_of(node, count, 0);
    return &s->targets[i];
}

HOT struct stack_target *
short_target(struct thread *t, struct arch_caller caller)
{
    struct short_table *s = t->shorts;
    struct outer at = {.slot = caller.slot, .rbp = caller.rbp};
    uint32_t inner = NO_STAMP;

    for (;;) {
        uint64_t ra = stack_word(at.slot);
        uint32_t i = short_index(ra, inner);
        const struct short_key *k = &s->keys[i];

        if (unlikely(k->ra != ra) || unlikely(k->inner != inner) ||
            unlikely(k->stamp == NO_STAMP) || unlikely(k->last))
            return short_make(t, caller);
        if (likely(k->rule.kind == RULE_NONE))
            return &s->targets[i];
        inner = k->stamp;
        if (unlikely(!short_step(t, &k->rule, &at)))
            return short_make(t, caller);
    }
}
