/* fork_child.c: handles a child forked in the middle of the recorder.
 *
 * A handler that has interrupted the recorder may fork, and return in the child. The child then
 * continues the interrupted event. But in the child the recorder's state reads as zeros and the
 * profile is not mapped, because both belong to the parent.
 *
 * So the parent copies the few structs that an event refers to, struct state and the thread's
 * structs, into memory that fork does not wipe. The child restores the structs at their addresses,
 * with empty memory in place of the profile. The event then runs to its end. No table grows,
 * because each is marked as full, and the results are discarded. All other memory reads as zeros at
 * valid addresses, and all tables treat zeros as empty. The thread's next event wipes the state and
 * starts the child's own profile. That profile counts the events in between as lost.
 *
 * A child made by a raw system call in such a handler is not handled. It must not continue the
 * interrupted event. */
#include "event/start.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "account/account_state.h"
#include "account/thread.h"
#include "base/atomics.h"
#include "event/event_state.h"
#include "platform/mem.h"
#include "platform/sys.h"

enum { LEVELS_MAX = 8 };

struct orphan {
    struct state state;
    struct thread *where[LEVELS_MAX];
    struct thread threads[LEVELS_MAX];
};

static void
fill(struct orphan *o)
{
    uint32_t level = 0;

    o->state = *state;
    for (struct thread *t = tls.self; t != NULL && level < LEVELS_MAX; t = t->outer) {
        o->where[level] = t;
        o->threads[level++] = *t;
    }
}

static void
map_nothing(void *where, size_t size_bytes)
{
    sys_mmap(where, size_bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
}

static void
put_back(const struct orphan *o)
{
    memcpy(state, &o->state, sizeof *state);
    store_relaxed(&account_state()->file_failed, 1u);
    map_nothing(state->header, DISK_DATA_OFF);
    for (uint32_t i = 0; i < DISK_KINDS; i++) {
        struct table *t = &state->tables[i];

        if (t->base != NULL)
            map_nothing(t->base, t->mapped_bytes);
        store_relaxed(&t->full, 1u);
    }
    for (uint32_t i = 0; i < LEVELS_MAX && o->where[i] != NULL; i++) {
        memcpy(o->where[i], &o->threads[i], sizeof o->threads[i]);
        store_relaxed(&o->where[i]->ready, 0u);
    }
    event_state()->fork_child_tid = (uint32_t)sys_gettid();
    event_state()->fork_child_events = 0;
    store_release(&state->ready, (uint32_t)READY_OFF);
}

COLD pid_t
fork_child_fork(pid_t (*fork_function)(void))
{
    struct orphan *o;
    uint64_t mask;
    pid_t pid;

    // Before its first event, the thread has no structs to copy.
    if (!thread_is_ready(tls.self))
        return fork_function();
    o = sys_mmap(NULL, sizeof *o, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sys_failed(o)) {
        errno = ENOMEM;
        return -1;
    }
    mask = sys_block_signals();
    fill(o);
    pid = fork_function();
    if (pid == 0)
        put_back(o);
    sys_unblock_signals(mask);
    sys_munmap(o, sizeof *o);
    return pid;
}

COLD bool
fork_child_waits(void)
{
    uint64_t lost;

    if (event_state()->fork_child_tid == 0)
        return true;
    if (tls.nests != 0 || event_state()->fork_child_tid != (uint32_t)sys_gettid()) {
        add_relaxed(&event_state()->fork_child_events, UINT64_C(1));
        return true;
    }
    lost = event_state()->fork_child_events;
    memset(state, 0, sizeof *state);
    mem_wipe_pool(); // Wipe the pool, because the interrupted event has written to it.
    event_state()->fork_child_events = lost;
    return false;
}

void
fork_child_report(void)
{
    add_relaxed(&state->header->losses.reentrant_events, event_state()->fork_child_events);
    event_state()->fork_child_events = 0;
}
