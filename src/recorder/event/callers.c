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
 * The frames of languages and their adapters belong to callers: a short stack needs none. */
#include "event/callers.h"

#include "account/account_state.h"
#include "account/label.h"
#include "event/distance.h"
#include "mixed/language_frames.h"

COLD void
callers_draw(struct thread *t)
{
    t->callers_left = distance_draw(&sample.callers);
}

bool
callers_are_sampled(struct thread *t)
{
    if (sample.callers.period == 0)
        return false;
    if (t->shorts == NULL) {
        if (!short_start(t))
            return false; // All its stacks are whole.
        callers_draw(t);
    }
    return true;
}

uint32_t *
callers_sites(struct thread *t, struct arch_caller caller)
{
    struct stack_target *target = NULL;

    if (unlikely(sample.callers.period != 0) && t->shorts != NULL)
        target = callers_target(t, caller);
    if (target == NULL)
        return language_sites(t, stack_target(t, caller));
    return account_state()->nodes[label_here(nodes_of(target->sites))].site;
}
