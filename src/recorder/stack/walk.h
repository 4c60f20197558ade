/* walk.h: walks whole stacks, as the slow path of stack.h, and caches unwind rules. */
#ifndef STACK_WALK_H
#define STACK_WALK_H

#include "account/thread.h"
#include "platform/arch_x86_64.h"

/* Return the node of the stack that called from CALLER, on any stack, by the complete unwind
 * tables. Does not change T's memo. Stores slots and frames in T's `walked`, and where their pages
 * end in `walked_end`. */
uint32_t walk_full(struct thread *t, struct arch_caller caller);

/* Return true if T's stack is whole although it ends in code without unwind tables, with the return
 * address RA at SLOT. Other stacks that end in such code lack their callers. */
bool walk_is_whole(const struct thread *t, uint64_t slot, uint64_t ra);

enum walk_between {
    WALK_UNKNOWN, // The walk does not reach that far.
    WALK_CALLS,   // END contains the return address of a caller: the call is in progress.
    WALK_PASSES,  // END is not a caller's slot: a longjmp has left that call.
    WALK_SIGNAL,  // A signal frame comes first.
};

/* Determine if the call whose return address is at END is still among the callers of the
 * intercepted function that was called from SLOT. */
enum walk_between walk_between(struct thread *t, uint64_t slot, uint64_t end);

/* --- rules.c: caches two results for a return address: its module, and the rule for stepping out
 * of its frame. */

/* Allocate the second level when recording starts. Return false if memory is exhausted. */
bool rules_start(void);

/* Fill in E for return address RA, from the second level or the unwind tables. E is the entry for
 * RA in a thread's cache, or a variable of the caller. */
void rules_fill(struct rule_entry *e, uint64_t ra);

/* Empty CACHE, which has RULE_CACHE_ENTRIES. */
void rules_forget(struct rule_entry *cache);

/* Return RA's place in CACHE, whatever entry it contains. */
static inline struct rule_entry *
rules_slot(struct rule_entry *cache, uint64_t ra)
{
    static_assert(RULE_CACHE_ENTRIES == 1 << (64 - 52), "the hash below");
    return &cache[(ra * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
}

/* Return the entry for return address RA in CACHE, which belongs to this thread and has
 * RULE_CACHE_ENTRIES entries. On a miss, fill it in. The result is valid until the next call. */
static inline const struct rule_entry *
rules_find(struct rule_entry *cache, uint64_t ra)
{
    struct rule_entry *e = rules_slot(cache, ra);

    if (unlikely((e->frame & DISK_ADDRESS_MASK) != ra || e->rule.kind == RULE_NONE))
        rules_fill(e, ra);
    return e;
}

#endif
