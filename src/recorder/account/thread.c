/* thread.c: accesses the structs of other threads, and creates counters for a thread's own struct.
 * join.c assigns a struct to a thread. */
#include "account/thread.h"

#include <string.h>

#include "account/account_state.h"
#include "account/file.h"
#include "platform/sys.h"

uint32_t
thread_row_count(void)
{
    uint64_t used = load_acquire(&state->tables[DISK_THREADS].used);

    return used < LIMIT_THREADS ? (uint32_t)used : LIMIT_THREADS;
}

/* Copy and compare names by words, because other threads may write them at the same time. */
static_assert(DISK_THREAD_NAME_BYTES == 16 && offsetof(struct disk_thread, name) % 8 == 0,
              "a name is two words");

void
thread_set_name(struct disk_thread *d, const char *name)
{
    uint64_t words[2];

    memcpy(words, name, sizeof words);
    store_relaxed(&((uint64_t *)(void *)d->name)[0], words[0]);
    store_relaxed(&((uint64_t *)(void *)d->name)[1], words[1]);
}

bool
thread_has_name(const struct disk_thread *d, const char *name)
{
    uint64_t words[2];

    memcpy(words, name, sizeof words);
    return load_relaxed(&((const uint64_t *)(const void *)d->name)[0]) == words[0] &&
           load_relaxed(&((const uint64_t *)(const void *)d->name)[1]) == words[1];
}

void
thread_refresh_name(struct thread *t)
{
    char name[16] = "";

    if (sys_thread_name(name) == 0)
        thread_set_name(t->disk, name);
}

void
thread_invalidate(struct thread *t)
{
    uint32_t ready = load_relaxed(&t->ready);

    // This exchange follows the write of the change; join_refresh reads in the opposite order.
    while (ready != THREAD_NOT && !cas_seq_cst(&t->ready, &ready, (uint32_t)THREAD_STALE))
        continue;
}

void
thread_invalidate_all(void)
{
    uint32_t rows = thread_row_count();

    for (uint32_t i = 1; i < rows; i++) { // Skip row 0, which is never used.
        struct thread *t = load_acquire(&account_state()->threads[i]);

        if (t != NULL)
            thread_invalidate(t);
    }
}

COLD struct disk_counter *
thread_counter_make(struct thread *t, uint32_t site)
{
    uint64_t index = table_take(&state->tables[DISK_COUNTERS], 1);
    struct disk_block *b;

    if (index == TABLE_NONE)
        return NULL;
    b = table_record(&state->tables[DISK_COUNTERS], index);
    b->first_site = site / DISK_BLOCK_SITES * DISK_BLOCK_SITES;
    store_release(&b->thread, t->row);
    t->blocks[site / DISK_BLOCK_SITES] = b;
    return &b->counters[site % DISK_BLOCK_SITES];
}
