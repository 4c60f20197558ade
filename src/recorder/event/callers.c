/* callers.c: decides which allocations are recorded with their callers.
 *
 * With --callers 1/N each allocation is counted at its site, and one in N on average with its whole
 * stack. Each allocation is chosen with the same probability, independently of all others: the
 * distance to the next is drawn at random, as for samples by calls (draw.c). A fixed distance
 * would favour one of several callers that take turns.
 *
 * A block belongs to one counter, at its short stack or at its whole stack, whichever was chosen.
 * So its free, reallocation and share of the peak need no decision, and the counters of a site add
 * up to its exact totals.
 *
 * Callers of different shares cannot be compared, if the share changes. So both stacks end in a tag
 * with N, and readers estimate from the whole stacks of the same N. A thread adopts another N when
 * it refreshes (join.c).
 *
 * The frames of languages and their adapters belong to callers: a short stack needs none. */
#include "event/callers.h"

#include "account/account_state.h"
#include "account/label.h"
#include "base/atomics.h"
#include "event/distance.h"
#include "mixed/language_frames.h"

/* Cost of a chosen allocation besides its stack: drawing the next one, and its counter. */
enum { CHOSEN_CYCLES = 500 };

COLD void
callers_draw(struct thread *t)
{
    t->callers_left = distance_draw(&sample.callers[t->callers_mode]);
}

/* Set T's mode. Its short stacks carry the period of the former one. */
static COLD void
callers_set_mode(struct thread *t, uint32_t mode)
{
    t->callers_mode = mode;
    t->callers_period = (uint32_t)sample.callers[mode].period;
    short_forget(t);
    if (mode != 0)
        callers_draw(t);
}

bool
callers_are_sampled(struct thread *t)
{
    uint32_t mode = sample.callers_of[load_acquire(&sample.present)];

    if (likely(mode == 0 && t->callers_mode == 0))
        return false;
    if (mode != 0 && t->shorts == NULL && !short_start(t))
        mode = 0; // Without memory for short stacks, record all stacks of T whole.
    if (t->callers_mode != mode)
        callers_set_mode(t, mode);
    return mode != 0;
}

COLD struct stack_target *
callers_whole(struct thread *t, struct arch_caller caller)
{
    struct stack_target *target = short_whole(t, language_node(t, caller));

    callers_draw(t);
    t->whole_cycles += CHOSEN_CYCLES;
    return target;
}

uint32_t *
callers_sites(struct thread *t, struct arch_caller caller)
{
    struct stack_target *target;

    if (likely(t->callers_mode == 0))
        return language_sites(t, stack_target(t, caller));
    target = callers_target(t, caller);
    return account_state()->nodes[label_here(nodes_of(target->sites))].site;
}
