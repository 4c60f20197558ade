/* limit.c: shrinks the recorder's reservations when the program's address space is limited.
 *
 * RLIMIT_AS counts reservations, and the recorder has gigabytes of them. So when a limit is set,
 * the recorder unmaps unused reservations. It keeps 16 MiB for its tables to grow, or a 64th of the
 * limit if that is more. A limit arrives in three ways:
 *
 *     the program calls setrlimit or prlimit ........ entry/rlimit_interposed.c calls limit_follow
 *     another process or a raw system call sets it .. nobody reports it. limit_poll reads it once
 *                                                     in a millisecond of events. When an
 *                                                     allocation of the program fails before,
 *                                                     limit_gives_back returns true, and the caller
 *                                                     tries once more. When a mapping of the
 *                                                     recorder fails, so does that
 *
 * A forked child unmaps its parent's private memory: nothing refers to it.
 *
 * A recorder with a reserve cannot map memory later. Under a limit L it keeps the free part of its
 * arena up to a sixth of what L leaves it and the program: the ledger of a heap that fills the rest
 * takes 2.5 in 16, and the threads have the remainder. The tables keep a reserve of up to a 16th of
 * L whole, and of a larger one as much as they keep without a reserve. So a limit far above the use
 * unmaps nothing.
 *
 * The tables in use, the top level of the ledger (64 MiB) and some 2 MiB for each thread stay
 * reserved. Tables keep their reduced maximum after the limit is removed.
 *
 * Under RLIMIT_DATA only the parent's memory is unmapped: the recorder's other large reservations
 * do not count towards it (platform/mem.c). */
#include "account/limit.h"

#include <sys/resource.h>

#include "account/account_state.h"
#include "account/file.h"
#include "account/nodes.h"
#include "account/thread.h"
#include "base/atomics.h"
#include "platform/mem.h"
#include "platform/state.h"
#include "platform/sys.h"

#define SPARE_BYTES ((uint64_t)16 << 20)
/* Under any limit up to this one the tables keep SPARE_BYTES; under a higher one they keep more. */
#define LEAST_LIMIT (SPARE_BYTES * SPARE_LIMIT_SHARE)
enum { SPARE_LIMIT_SHARE = 64, RESERVE_SHARE = 16, ARENA_SHARE = 6, LOOK_NS = 1000000 };

/* Return true if the recorder in memory records this process. A child made by vfork has its own
 * limits, but shares its parent's memory. */
static bool
is_recorded_here(void)
{
    return state != NULL && load_acquire(&state->ready) == READY_YES &&
           sys_is_process(state->header->pid);
}

/* Unmap the parent's memory in a forked child that has not started recording, unless a thread is
 * starting. Return true if there was any. The child then starts as a new process does. After a fork
 * by a raw system call the forking thread still refers to its struct. In that case keep the struct,
 * and leave the unmapping to that thread, the child's main thread. */
static bool
drop_parents(void)
{
    bool had_pool, had_others;
    uint32_t idle = 0;

    if (state == NULL || load_acquire(&state->ready) != READY_NO || sys_gettid() != sys_getpid() ||
        !cas_acq_rel(&state->starting, &idle, 1u))
        return false;
    had_pool = mem_pool_bytes() != 0;
    if (had_pool)
        mem_drop_pool(tls.self, sizeof *tls.self);
    had_others = mem_drop_parents(tls.self);
    store_release(&state->starting, 0u);
    return had_pool || had_others;
}

/* Unmap the array entries of sites that find no room in the table of nodes. */
static void
give_back_errors(void)
{
    uint64_t before = load_relaxed(&account_state()->errors_count);
    uint64_t nodes = load_relaxed(&state->tables[DISK_NODES].max_bytes) / sizeof(struct disk_node);
    uint64_t count = load_relaxed(&account_state()->sites) + nodes * DISK_SIZE_CLASSES;

    if (count >= before)
        return;
    store_relaxed(&account_state()->errors_count, count);
    mem_shrink(account_state()->errors, before * sizeof *account_state()->errors,
               count * sizeof *account_state()->errors);
}

/* Return the number of free bytes that the tables keep under LIMIT_BYTES. */
static uint64_t
table_spare(uint64_t limit_bytes)
{
    uint64_t share = limit_bytes / SPARE_LIMIT_SHARE;

    return share > SPARE_BYTES ? share : SPARE_BYTES;
}

/* Return the number of free bytes that the arena may keep if the limit is LIMIT_BYTES and the
 * tables take TABLE_BYTES of it. */
static uint64_t
arena_spare(uint64_t limit_bytes, uint64_t table_bytes)
{
    uint64_t taken = mem_arena_taken() + table_bytes;

    return limit_bytes > taken ? (limit_bytes - taken) / ARENA_SHARE : 0;
}

/* Shrink all reservations to the sizes allowed under LIMIT_BYTES. Return false if this limit was
 * applied before, or if another thread is shrinking them. */
static bool
limit_give_back(uint64_t limit_bytes)
{
    uint64_t known = load_relaxed(&account_state()->followed), nodes_bytes, table_bytes, mask;
    bool from_reserve = account_state()->reserve_bytes > limit_bytes / RESERVE_SHARE;
    uint32_t idle = 0;

    if ((known != 0 && known <= limit_bytes) ||
        !cas_acq_rel(&account_state()->giving_back, &idle, 1u))
        return false;
    mask = sys_block_signals();
    nodes_bytes = load_relaxed(&state->tables[DISK_NODES].max_bytes);
    table_bytes = file_give_back(table_spare(limit_bytes), from_reserve);
    nodes_give_back(nodes_bytes);
    give_back_errors();
    mem_give_back(arena_spare(limit_bytes, table_bytes));
    mem_drop_parents(NULL);
    store_relaxed(&account_state()->followed, limit_bytes > 0 ? limit_bytes : 1);
    sys_unblock_signals(mask);
    store_release(&account_state()->giving_back, 0u);
    return true;
}

COLD void
limit_follow(uint64_t limit_bytes)
{
    if (limit_bytes == UINT64_MAX)
        return;
    if (is_recorded_here())
        limit_give_back(limit_bytes);
    else
        drop_parents();
}

void
limit_poll(uint64_t now_ns)
{
    uint64_t limit;

    if (now_ns < load_relaxed(&account_state()->limit_next_ns) || sys_is_quiet())
        return;
    store_relaxed(&account_state()->limit_next_ns, now_ns + LOOK_NS);
    limit = sys_limit(RLIMIT_AS);
    // A limit that has not fallen needs no work: the tables were made to fit it.
    if (limit >= load_relaxed(&account_state()->limit_seen))
        return;
    store_relaxed(&account_state()->limit_seen, limit);
    limit_follow(limit);
}

COLD bool
limit_gives_back(uint64_t size_bytes)
{
    uint64_t limit;

    if (size_bytes == 0 || state == NULL || sys_is_quiet())
        return false;
    limit = sys_limit(RLIMIT_AS);
    if (limit != UINT64_MAX && size_bytes < limit)
        return is_recorded_here() ? limit_give_back(LEAST_LIMIT) : drop_parents();
    limit = sys_limit(RLIMIT_DATA);
    if (limit == UINT64_MAX || size_bytes >= limit)
        return false;
    return is_recorded_here() ? mem_drop_parents(NULL) : drop_parents();
}

void
limit_start(void)
{
    mem_on_shortage(limit_gives_back);
    account_state()->limit_seen = sys_limit(RLIMIT_AS);
}
