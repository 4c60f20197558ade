/* memo.c: empties a memo. An empty memo has no frame that a walk could meet, and only checks that
 * always hold. */
#include "stack/memo.h"

COLD void
memo_forget(struct thread *t)
{
    t->memo_count = 0;
    t->memo_same = 0;
    t->memo_is_cut = false;
    t->memo_root = DISK_NODE_ROOT;
    t->check_count = CHECKS_RESERVED;
    t->memo_version++;
    for (uint32_t i = 0; i < CHECKS_RESERVED; i++) {
        uint64_t *itself = &t->checks[i].address;

        t->checks[i] = (struct stack_check){(uintptr_t)itself, (uintptr_t)itself};
    }
    t->memo[0].slot = UINT64_MAX;
    t->leaf_slot = 0;
}

COLD void
memo_forget_all(struct thread *t)
{
    memo_forget(t);
    for (uint32_t i = 1; i <= t->variant_count; i++)
        t->variants[i].slot = 0;
}
