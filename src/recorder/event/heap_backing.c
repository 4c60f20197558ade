/* heap_backing.c: records the end of a block that backs a heap of the program. heap.c records its
 * begin. */
#include "event/heap_backing.h"

#include "account/count.h"

int64_t
heap_backing_ends(struct thread *t, struct ledger_entry old, bool moved)
{
    uint64_t size_bytes = old.size_bytes & BACKING_BYTES;
    struct disk_counter *c = thread_counter(t, old.site & (LEDGER_BACKING - 1));

    if (c == NULL) {
        bump(&t->disk->no_memory_events);
        return 0;
    }
    count_objects_free(t, c, 1, size_bytes);
    if (moved)
        bump(&c->moved);
    if (!(old.size_bytes & (BACKING_FOREIGN | BACKING_SAMPLE)))
        count_bin_free(t, size_bytes);
    return 0;
}
