/* rules.h: return address -> {module, how to step out}, cached. */
#ifndef STACK_RULES_H
#define STACK_RULES_H

#include "account/thread.h"

/* Make the second level when recording starts. False without memory. */
bool rules_start(void);

/* Fill in E, the entry of a thread's cache that is RA's or one of the caller's own, from the second
 * level or the tables. */
void rules_fill(struct rule_entry *e, uint64_t ra);

/* Where the entry for return address RA is in CACHE, if it is there. */
static inline struct rule_entry *
rules_slot(struct rule_entry *cache, uint64_t ra)
{
    static_assert(RULE_CACHE_ENTRIES == 1 << (64 - 52), "the hash below");
    return &cache[(ra * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
}

/* The entry for return address RA in this thread's CACHE of RULE_CACHE_ENTRIES, filled in if need
 * be. Valid until the next call. */
static inline const struct rule_entry *
rules_find(struct rule_entry *cache, uint64_t ra)
{
    struct rule_entry *e = rules_slot(cache, ra);

    if (unlikely((e->frame & DISK_ADDRESS_MASK) != ra || e->rule.kind == RULE_NONE))
        rules_fill(e, ra);
    return e;
}

#endif
