/* rules.c: caches unwind rules in two levels, so that the unwind tables are rarely read.
 *
 * The first level belongs to the thread. It is direct-mapped, needs no synchronisation, and costs
 * one load on a hit. The second level is shared. It has rules that the first level displaced or
 * that another thread compiled. Such a rule costs a cache miss instead of a walk through .eh_frame.
 *
 * A second-level slot consists of two words, key and rule, and two half words. One half word is the
 * rule's generation. The generation's low bits are also in the key. So a rise of state->generation
 * (code was unloaded) makes all rules stale without touching them. A writer clears the key, writes
 * the other parts, then stores the key with release order. A reader reads the other parts between
 * two reads of the key. If a bucket is full, a new rule replaces one of its slots.
 *
 * Few programs need all buckets, and touching them costs page faults. So new rules go to the first
 * few buckets until these are half full; then more are used. Rules are never moved. */
#include "stack/walk.h"

#include <string.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "platform/mem.h"
#include "stack/modules.h"
#include "stack/stack_state.h"

enum {
    BUCKET_SLOTS = 4,
    BUCKETS_FIRST_SHIFT = 8, // Log2 of the initial number of buckets.
    BUCKETS_SHIFT = 14,
    BUCKETS_STEP = 2,
    KEY_BUSY = 1
};

struct rule_slot {
    // Address | low 16 bits of the generation << 48; 0 = empty, KEY_BUSY during a write.
    uint64_t key;
    uint64_t rule; // A struct unwind_rule.
};

struct rule_bucket {
    struct rule_slot slots[BUCKET_SLOTS];
    // Indexed by slot; written before the slot's key.
    uint32_t modules[BUCKET_SLOTS], generations[BUCKET_SLOTS];
};

bool
rules_start(void)
{
    stack_state()->rules = mem_private(sizeof(struct rule_bucket) << BUCKETS_SHIFT);
    if (stack_state()->rules == NULL)
        return false;
    // Prefault the first buckets: rules are scattered over them, so even a short program needs all
    // their pages.
    mem_touch(stack_state()->rules, stack_state()->rules + (1u << BUCKETS_FIRST_SHIFT));
    return true;
}

/* Return log2 of the number of buckets in use for new rules. */
static uint32_t
bucket_shift(void)
{
    uint32_t shift = BUCKETS_FIRST_SHIFT;

    while (shift < BUCKETS_SHIFT && load_relaxed(&stack_state()->rules_added) >> (shift + 1) != 0)
        shift += BUCKETS_STEP;
    return shift;
}

static struct rule_bucket *
rules_bucket_of(uint64_t ra, uint32_t shift)
{
    return &stack_state()->rules[hash_u64(ra) & ((1u << shift) - 1)];
}

static uint64_t
rules_make_key(uint64_t ra, uint32_t generation)
{
    return (ra & DISK_ADDRESS_MASK) | (uint64_t)generation << DISK_ADDRESS_BITS;
}

static bool
bucket_find(struct rule_bucket *b, uint64_t ra, struct rule_entry *ret)
{
    uint32_t generation = load_acquire(&state->generation);
    uint64_t key = rules_make_key(ra, generation);

    for (uint32_t i = 0; i < BUCKET_SLOTS; i++) {
        struct rule_slot *s = &b->slots[i];
        uint64_t rule;
        uint32_t module, made;

        if (load_acquire(&s->key) != key)
            continue;
        rule = load_acquire(&s->rule);
        module = load_acquire(&b->modules[i]);
        made = load_acquire(&b->generations[i]);
        if (load_acquire(&s->key) != key || made != generation)
            continue;
        memcpy(&ret->rule, &rule, sizeof ret->rule);
        ret->frame = ra | (uint64_t)module << DISK_ADDRESS_BITS;
        return true;
    }
    return false;
}

static bool
shared_find(uint64_t ra, struct rule_entry *ret)
{
    for (uint32_t shift = bucket_shift(); shift >= BUCKETS_FIRST_SHIFT; shift -= BUCKETS_STEP)
        if (bucket_find(rules_bucket_of(ra, shift), ra, ret))
            return true;
    return false;
}

static void
shared_add(uint64_t ra, const struct rule_entry *e)
{
    struct rule_bucket *b = rules_bucket_of(ra, bucket_shift());
    uint32_t generation = load_acquire(&state->generation);
    uint64_t key = rules_make_key(ra, generation);
    uint32_t victim = (uint32_t)(hash_u64(ra) >> 60) % BUCKET_SLOTS;
    uint64_t current;
    uint64_t rule;

    for (uint32_t i = 0; i < BUCKET_SLOTS; i++) {
        current = load_relaxed(&b->slots[i].key);
        if (current == 0 ||
            (current != KEY_BUSY && current >> DISK_ADDRESS_BITS != key >> DISK_ADDRESS_BITS)) {
            victim = i;
            break;
        }
    }
    current = load_relaxed(&b->slots[victim].key);
    if (current == KEY_BUSY || !cas_acq_rel(&b->slots[victim].key, &current, (uint64_t)KEY_BUSY))
        return; // Another thread is writing this slot; the rule stays in the thread's cache.
    memcpy(&rule, &e->rule, sizeof rule);
    store_release(&b->slots[victim].rule, rule);
    store_release(&b->modules[victim], (uint32_t)(e->frame >> DISK_ADDRESS_BITS));
    store_release(&b->generations[victim], generation);
    store_release(&b->slots[victim].key, key);
    add_relaxed(&stack_state()->rules_added, UINT64_C(1));
}

/* Return true if RULE has the properties that struct rule_entry requires for RULE_RSP. */
static bool
rules_leads_out(const struct unwind_rule *rule)
{
    return rule->cfa_offset >= 8 && rule->cfa_offset % 8 == 0 && rule->rbp_words <= 0 &&
           rule->cfa_offset + 8 * rule->rbp_words + 8 > 0;
}

COLD void
rules_forget(struct rule_entry *cache)
{
    for (uint32_t i = 0; i < RULE_CACHE_ENTRIES; i++)
        if (cache[i].rule.kind != RULE_NONE) // Do not touch pages without rules.
            cache[i].rule.kind = RULE_NONE;
}

COLD void
rules_fill(struct rule_entry *e, uint64_t ra)
{
    struct unwind_object object;

    if (shared_find(ra, e))
        return;
    if (ra >> DISK_ADDRESS_BITS || !unwind_find_object(ra - 1, &object)) {
        e->rule = (struct unwind_rule){.kind = RULE_NO_TABLE};
        e->frame = ra & DISK_ADDRESS_MASK;
        return; // Do not share the rule: code may be loaded at this address at any time without
                // notice.
    }
    e->frame = ra | (uint64_t)modules_id(&object) << DISK_ADDRESS_BITS;
    e->rule = unwind_compile(ra - 1, &object);
    if (e->rule.kind == RULE_RSP && !rules_leads_out(&e->rule))
        e->rule.kind = RULE_FULL;
    shared_add(ra, e);
}
