/* language_natives.c: prepares the C frames of a stack for language adapters.
 *
 * The outer frames are shared with the memo. The inner frames come from the checks of a variant
 * stack, or from the walk that has just ended. Prepared frames of the memo are reused until the
 * memo changes. */
#define HEAPTAP_IS_RECORDER

#include "mixed/language_frames.h"

#include "platform/mem.h"
#include "stack/walk.h"

static inline void
take_native(struct language_memo *m, uint32_t number, uint64_t frame, uint32_t flags, uint64_t slot)
{
    *language_native_at(m, number) = (struct heaptap_native){slot, frame & DISK_ADDRESS_MASK};
    *language_facts_at(m, number) = (struct native_facts){frame, flags, 0};
}

static inline void
take_frame(struct language_memo *m, uint32_t number, const struct stack_frame *f)
{
    take_native(m, number, f->frame, f->flags, f->slot);
}

/* Store the C frames of variant stack P inside its joining frame, outermost first. P's checks have
 * the frames' slots and return addresses. The rules supply the other data. The rules are the same
 * as in the original walk: if code had been unloaded since, P would have been dropped. */
static void
take_variant(struct thread *t, struct language_memo *m, const struct stack_variant *p)
{
    uint32_t number = p->join;

    for (uint32_t i = 0; i < p->check_count && number < m->native_count; i++) {
        const struct rule_entry *e;
        bool ends;

        if (!(p->slots >> i & 1))
            continue;
        e = rules_find(t->rules, p->checks[i].value);
        // Test as breaks_off in stack.c does.
        ends = number == 0 && p->root == DISK_NODE_ROOT;
        take_native(m, ++number, e->frame,
                    e->rule.kind == RULE_NO_TABLE && !ends ? DISK_NODE_GUESSED : 0,
                    p->checks[i].address);
    }
}

/* Return the number of outer frames that TARGET shares with the memo. */
static inline uint32_t
joined_of(const struct thread *t, const struct stack_target *target)
{
    const struct stack_variant *p;

    if (target == &t->leaf)
        return t->memo_count;
    p = stack_variant_of(t, target);
    return p != NULL ? p->join : 0;
}

/* Drop results that depend on memo frames that have changed. */
static inline void
drop_changed(struct thread *t, struct language_memo *m)
{
    if (m->natives_same > t->memo_same)
        m->natives_same = t->memo_same;
    if (m->spine_count > t->memo_same)
        m->spine_count = t->memo_same;
    signal_fence();
    t->memo_same = t->memo_count;
}

/* Store the C frames of TARGET inside memo frame number JOINED. */
static void
find_inner(struct thread *t, struct language_memo *m, const struct stack_target *target,
           uint32_t joined)
{
    const struct stack_variant *p = stack_variant_of(t, target);
    uint32_t n;

    if (target == &t->leaf) {
        m->native_count = joined;
        return;
    }
    n = p != NULL ? p->target.frames - joined : t->walked_count;
    if (n > LIMIT_DEPTH - joined)
        n = LIMIT_DEPTH - joined;
    m->native_count = joined + n;
    if (joined == 0)
        m->root = p != NULL ? p->root : t->walked_root;
    if (m->natives_same > joined && n > 0)
        m->natives_same = joined;
    if (p != NULL)
        take_variant(t, m, p);
    for (uint32_t i = 0; p == NULL && i < n; i++)
        take_frame(m, n - i, &t->walked[i]);
}

uint32_t
language_natives_inner(struct thread *t, struct language_memo *m, const struct stack_target *target)
{
    uint32_t joined = joined_of(t, target);

    drop_changed(t, m);
    find_inner(t, m, target, joined);
    return joined;
}

void
language_natives_outer(const struct thread *t, struct language_memo *m, uint32_t joined,
                       uint32_t first)
{
    uint32_t from = first > m->natives_same ? first : m->natives_same + 1;

    if (joined == 0)
        return;
    for (uint32_t i = from; i <= joined; i++)
        take_frame(m, i, &t->memo[i]);
    if (from == m->natives_same + 1 && joined > m->natives_same)
        m->natives_same = joined;
    m->root = t->memo_root;
}
