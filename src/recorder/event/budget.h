/* budget.h: chooses the share of callers by the recorder's cost; see budget.c. */
#ifndef EVENT_BUDGET_H
#define EVENT_BUDGET_H

#include "account/thread.h"

/* The choice of a share, and the costs that it depends on. Times are of the processor. */
struct budget {
    uint64_t limit;    // Permitted cost in thousandths of a percent of the program's; 0 = none.
    bool decides;      // False after an explicit request for a mode.
    uint32_t level;    // Index of the present share; 0 = exact.
    uint32_t wait;     // Number of decisions before a share may grow.
    uint32_t backoff;  // The next value of `wait`, doubled whenever a larger share was too much.
    uint64_t start_ns; // state->start_ns of the process that the sums belong to.
    uint64_t next_ns;  // Atomic: time of the next decision.
    uint64_t whole_cycles; // Atomic sum of this process: the cost of whole stacks.
    // The sums at the previous decision, and the processor time of the process.
    uint64_t events_before, whole_cycles_before, work_before;
    uint64_t exact_ns;           // Cost of whole stacks in exact recording, for 1,024 events.
    uint64_t own_ns, program_ns; // Sums of all decisions.
};

/* Costs between two decisions. */
struct budget_window {
    uint64_t own_ns;   // Cost of the recorder, whole stacks included.
    uint64_t whole_ns; // Cost of whole stacks.
    uint64_t program_ns;
    uint64_t events;
};

extern struct budget budget;

/* Read the limit. Call before the first event. */
void budget_start(void);

/* Keep the share that the user requested: choose none from now on. */
void budget_leave(void);

/* Return true if the next decision is due at NOW_NS. */
static inline bool
budget_is_due(uint64_t now_ns)
{
    return budget.limit != 0 && now_ns >= load_relaxed(&budget.next_ns);
}

/* Measure the cost until NOW_NS and choose the share. Only one thread at a time may call this: see
 * request.c. */
void budget_decide(uint64_t now_ns);

/* Measure the cost up to the end of the process. */
void budget_end(void);

/* Add the cost of T's whole stacks since the last call. */
void budget_add(struct thread *t);

/* Return the level after B's level, for the costs W. Pure. */
uint32_t budget_level(const struct budget *b, const struct budget_window *w);

/* Return the period of LEVEL: one allocation in this number has its callers; 0 = all. */
uint32_t budget_period(uint32_t level);

#endif
