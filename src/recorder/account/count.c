/* count.c: the rare case of count.h. */
#include "account/count.h"

COLD uint64_t
count_lost_size(struct thread *t, const struct disk_counter *c)
{
    bump(&t->disk->lost_sizes);
    return c->allocations != 0 ? c->size_max : 0;
}
