/* stack_frames.c: a stack in numbers that mean something without the profile.
 *
 * The call tree has the stack, so it is found there (stack/stack.c), as for any event, and the
 * allocation's own event that follows finds it remembered. A node's frame is the address and which
 * loading of a module it lies in; here only the address is wanted.
 *
 * That is an event within an event if operator new has called malloc: then the struct of the thread
 * is free to be used, as for what is asked for inside (nest.c), and what is under way goes on
 * afterwards as if nothing had been.
 */
#include "event/stack_frames.h"

#include "account/nodes.h"
#include "account/thread.h"
#include "base/atomics.h"
#include "event/enter.h"
#include "stack/language_frames.h"
#include "stack/stack.h"

/* Is there nothing to be had in this process? */
static bool
is_off(void)
{
    return state != NULL && load_acquire(&state->ready) == READY_OFF;
}

static struct thread *
begin(uint64_t slot, uint32_t *ret_busy, uint64_t *ret_entered)
{
    struct thread *t;

    *ret_busy = tls.busy;
    *ret_entered = tls.entered;
    if (slot == 0 || is_off() || tls.busy == BUSY_RECORDER ||
        (tls.busy == BUSY_NEXT && !thread_is_ready(tls.self)))
        return NULL;
    t = enter_cold(slot);
    if (t == NULL) {
        signal_fence();
        tls.entered = *ret_entered;
        tls.busy = *ret_busy;
    }
    return t;
}

static void
end(uint32_t busy, uint64_t entered)
{
    signal_fence();
    tls.entered = entered;
    signal_fence();
    tls.busy = busy;
}

uint32_t
frames_node(struct arch_caller caller)
{
    uint64_t entered;
    uint32_t busy, node;
    struct thread *t = begin(caller.slot, &busy, &entered);

    if (t == NULL)
        return 0;
    node = language_node(t, caller);
    end(busy, entered);
    return node;
}

uint32_t
frames_of(struct arch_caller caller, uint64_t *ret_frames, uint32_t max, uint64_t *ret_tid)
{
    uint64_t entered;
    uint32_t busy, node, count = 0;
    struct thread *t = begin(caller.slot, &busy, &entered);

    *ret_tid = 0;
    if (t == NULL)
        return 0;
    node = nodes_of(stack_target(t, caller)->sites);
    for (; node >= DISK_NODE_FIRST && count < max; node = state->nodes[node].parent)
        ret_frames[count++] = state->nodes[node].frame & DISK_ADDRESS_MASK;
    *ret_tid = t->disk->tid;
    end(busy, entered);
    return count;
}
