/* ledger_side.c: maps pointers to {size, site}, for four kinds of blocks: blocks whose slack does
 * not fit into an entry, blocks that share a granule, blocks of allocators that cannot report a
 * block's size, and samples, whose entry also stores the recording mode.
 *
 * The side table is a sequence of hash tables, each four times the size of the previous one. A key
 * may be in any of them, within one window of WINDOW slots that starts at its hash. So a lookup
 * reads at most one window per table, mostly one or two cache lines of one table, and entries are
 * never moved.
 *
 * No locks are needed. A CAS of a slot's key from EMPTY or GONE claims the slot. The value is
 * stored without a CAS, because a block has one owner from before its insertion until after its
 * removal. Two entries for one key cannot arise, because an insertion first removes an old entry,
 * and only the owner inserts. */
#include "ledger/ledger_side.h"

#include "base/atomics.h"
#include "base/hash.h"
#include "ledger/ledger_state.h"
#include "platform/mem.h"
#include "platform/state.h"

enum {
    WINDOW = 32,
    FIRST_SLOTS = 1024,
    KEY_EMPTY = 0,
    KEY_GONE = 1,
    SIZE_BITS = 64 - LEDGER_SITE_BITS,
    HOW_BITS = 32 - LEDGER_SITE_BITS,
};

struct side_slot {
    uint64_t key;   // The block's address, KEY_EMPTY or KEY_GONE.
    uint64_t value; // Size in the low SIZE_BITS bits, site above them.
    uint64_t how;   // Bits above a sample's site, 0 for other blocks; from HOW_BITS on the birth
                    // number; at CORE_HOW_ODD_SHIFT the flag "odd".
};

struct side {
    uint64_t mask; // Number of slots minus one.
    uint64_t pad;
    struct side_slot slots[];
};

static struct side_slot *
ledger_side_find(struct side *s, uint64_t key, uint64_t hash)
{
    for (uint32_t i = 0; i < WINDOW; i++) {
        struct side_slot *slot = &s->slots[(hash + i) & s->mask];
        uint64_t current = load_acquire(&slot->key);

        if (current == key)
            return slot;
        if (current == KEY_EMPTY)
            return NULL;
    }
    return NULL;
}

static bool
claim(struct side *s, uint64_t key, uint64_t hash, uint64_t value, uint64_t how)
{
    for (uint32_t i = 0; i < WINDOW; i++) {
        struct side_slot *slot = &s->slots[(hash + i) & s->mask];
        uint64_t current = load_relaxed(&slot->key);

        if (current != KEY_EMPTY && current != KEY_GONE)
            continue;
        if (cas_acq_rel(&slot->key, &current, key)) {
            store_relaxed(&slot->how, how);
            store_release(&slot->value, value);
            return true;
        }
    }
    return false;
}

/* Return table I, created on first use. Return NULL if memory is exhausted. */
static struct side *
table(uint32_t i)
{
    struct side *s = load_acquire(&ledger_state()->side[i]);
    struct side *none = NULL;
    size_t slots = (size_t)FIRST_SLOTS << (2 * i);
    size_t size_bytes = sizeof *s + slots * sizeof s->slots[0];

    if (s != NULL)
        return s;
    s = mem_dumped(size_bytes);
    if (s == NULL)
        return NULL;
    s->mask = slots - 1;
    if (cas_acq_rel(&ledger_state()->side[i], &none, s)) {
        core_side_add(i, s);
        return s;
    }
    mem_release(s, size_bytes);
    return none;
}

bool
ledger_side_insert(uintptr_t block, uint64_t size_bytes, uint32_t site, uint8_t birth,
                   bool odd, struct ledger_entry *ret_old)
{
    uint64_t hash = hash_u64(block);
    uint64_t size_max = (UINT64_C(1) << SIZE_BITS) - 1;
    uint64_t value = (size_bytes < size_max ? size_bytes : size_max) | (uint64_t)site << SIZE_BITS;
    uint64_t how = site >> LEDGER_SITE_BITS | (uint64_t)birth << HOW_BITS |
                   (uint64_t)odd << CORE_HOW_ODD_SHIFT;

    *ret_old = ledger_side_remove(block);
    for (uint32_t i = 0; i < countof(ledger_state()->side); i++) {
        struct side *s = table(i);

        if (s == NULL)
            return false;
        if (claim(s, block, hash, value, how))
            return true;
    }
    return false;
}

struct ledger_entry
ledger_side_remove(uintptr_t block)
{
    uint64_t hash = hash_u64(block);

    for (uint32_t i = 0; i < countof(ledger_state()->side); i++) {
        struct side *s = load_acquire(&ledger_state()->side[i]);
        struct side_slot *slot;

        if (s == NULL)
            break;
        slot = ledger_side_find(s, block, hash);
        if (slot != NULL) {
            uint64_t value = load_acquire(&slot->value);
            uint64_t how = slot->how;

            // Clear the value: a longjmp may interrupt a later claim before it stores its value,
            // and must not expose this one.
            store_relaxed(&slot->value, UINT64_C(0));
            store_release(&slot->key, (uint64_t)KEY_GONE);
            return (struct ledger_entry){.site = (uint32_t)(value >> SIZE_BITS) |
                                                 (uint32_t)how << LEDGER_SITE_BITS,
                                         .birth = (uint8_t)(how >> HOW_BITS),
                                         .odd = how >> CORE_HOW_ODD_SHIFT & 1,
                                         .size_bytes = value & ((UINT64_C(1) << SIZE_BITS) - 1)};
        }
    }
    return (struct ledger_entry){0};
}
