/* rules.h: return address -> {module, how to step out}, cached. */
#ifndef MONITOR_RULES_H
#define MONITOR_RULES_H

#include "monitor/state.h"

/* A cache entry: 16 bytes. kind RULE_NONE = empty. */
struct rule_entry {
    uint64_t frame; // The address with its module, as in struct disk_node.
    struct unwind_rule rule;
};

enum { RULE_CACHE_ENTRIES = 4096 };

bool rules_start(void);

/* The entry for return address RA in this thread's CACHE of RULE_CACHE_ENTRIES, filled in if need
 * be. Valid until the next call. */
const struct rule_entry *rules_find(struct rule_entry *cache, uint64_t ra);

/* The frame word of ADDRESS, an interrupted instruction if EXACT, else a return address. */
uint64_t rules_frame(uint64_t address, bool exact);

#endif
