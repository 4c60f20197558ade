/* stack_frames.c: collects a stack as addresses that are valid without the profile.
 *
 * stack/stack.c finds the stack as for any event. The allocation's own event follows, and finds the
 * same stack in the memo. A node's frame is an address and its module; this file uses only the
 * address. If frames of languages are merged with C frames, or if the tree is full, the node lacks
 * a part of the C stack (stack/path_ids.c). In these cases the frames come from the memo, the
 * variant stack or the latest walk.
 *
 * If operator new has called malloc, the stack is collected within the outer event. The thread's
 * struct is not in use at that time, as for inner blocks (inner.c), and the outer event continues
 * unchanged afterwards. */
#include "event/stack_frames.h"

#include "account/account_state.h"
#include "account/nodes.h"
#include "account/thread.h"
#include "base/atomics.h"
#include "event/reentry.h"
#include "mixed/language_frames.h"
#include "stack/coroutines.h"
#include "stack/stack.h"

/* Return true if this process is not recorded. */
static bool
is_off(void)
{
    return state != NULL && load_acquire(&state->ready) == READY_OFF;
}

static struct thread *
stack_frames_begin(uint64_t slot, struct reentry_saved *ret_saved)
{
    struct thread *t;

    if (slot == 0 || is_off() || reentry_is_in_recorder() ||
        (reentry_is_in_real() && !thread_is_ready(tls.self)))
        return NULL;
    *ret_saved = reentry_save();
    t = reentry_enter_thread_cold(slot);
    if (t == NULL)
        reentry_restore(ret_saved);
    return t;
}

uint32_t
frames_node(struct arch_caller caller)
{
    struct reentry_saved saved;
    struct thread *t = stack_frames_begin(caller.slot, &saved);
    uint32_t node;

    if (t == NULL)
        return 0;
    node = language_node(t, caller);
    reentry_restore(&saved);
    return node;
}

/* Store the innermost MAX frames of NODE. Return false if the tree lacks some of the stack's
 * frames. */
static bool
frames_of_node(uint32_t node, uint64_t *ret_frames, uint32_t max, uint32_t *ret_count)
{
    uint32_t count = 0;

    for (; node >= DISK_NODE_FIRST && count < max; node = account_state()->nodes[node].parent) {
        if (account_state()->nodes[node].frame == DISK_SHORTENED)
            return false;
        ret_frames[count++] = account_state()->nodes[node].frame & DISK_ADDRESS_MASK;
    }
    *ret_count = count;
    return count == max || node != DISK_NODE_OTHER;
}

/* Store the innermost MAX frames of a stack that the tree does not contain completely. TARGET is
 * the latest result of stack_target. Return the number of stored frames. */
static uint32_t
frames_of_thread(const struct thread *t, const struct stack_target *target, uint64_t *ret_frames,
                 uint32_t max)
{
    const struct stack_variant *p = stack_variant_of(t, target);
    uint32_t count = 0, outer = 0;

    if (target == &t->leaf) {
        outer = t->memo_count;
    } else if (p != NULL) {
        outer = p->join;
        for (uint32_t i = p->check_count; i-- > 0 && count < max;)
            if (p->slots >> i & 1)
                ret_frames[count++] = p->checks[i].value;
    } else {
        for (; count < t->walked_count && count < max; count++)
            ret_frames[count] = t->walked[count].frame & DISK_ADDRESS_MASK;
    }
    for (; outer > 0 && count < max; outer--)
        ret_frames[count++] = t->memo[outer].frame & DISK_ADDRESS_MASK;
    return count;
}

uint32_t
frames_of(struct arch_caller caller, uint64_t *ret_frames, uint32_t max, uint64_t *ret_tid)
{
    const struct stack_target *target;
    struct reentry_saved saved;
    uint32_t count = 0;
    struct thread *t = stack_frames_begin(caller.slot, &saved);

    *ret_tid = 0;
    if (t == NULL)
        return 0;
    target = stack_target(t, caller);
    if (!frames_of_node(nodes_of(target->sites), ret_frames, max, &count))
        count = frames_of_thread(coroutines_owner(t, target), target, ret_frames, max);
    *ret_tid = t->disk->tid;
    reentry_restore(&saved);
    return count;
}
