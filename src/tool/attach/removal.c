/* removal.c: remove an attached recorder from a process.
 *
 * The end restores the bytes first. Then no call enters the library any more, and threads that are
 * inside leave it. A thread is outside if no word of its stack leads into the region, or if its
 * unwound frames are outside. The search for objects is restored last: until then, an exception may
 * pass frames of the library. */
#include "attach/removal.h"

#include <errno.h>
#include <sys/syscall.h>

#include "attach/control_block.h"
#include "attach/inside.h"
#include "attach/patching.h"
#include "attach/remote.h"

#define LEAVE_NS_MAX UINT64_C(20000000000)
#define STOPPED_NS_MAX UINT64_C(500000000) // If a signal has stopped the process.
#define PAUSE_NS_MAX 64000000

/* Message for a thread that does not leave the region; it has the process id. */
#define STAYS                                                                                      \
    "a thread of process %u stays in the recorder, which records no more; if the process is "     \
    "stopped, continue it; then `heaptap detach` removes the recorder"

/* Return true if the only thread of S is outside the region at BASE. UNWINDER may be NULL. Clear
 * the thread's words of the recorder then. */
static bool
is_outside(const struct threads *s, uint64_t base, const struct region *region,
           struct inside *unwinder)
{
    struct word_range all[1 + REGION_ANNEXES_MAX] = {{base, base + region->size_bytes}};
    size_t count = 1;

    if (s->v[0].has_ended)
        return true;
    for (uint64_t i = 0; i < region->annex_count; i++)
        all[count++] = (struct word_range){region->annexes[i].low, region->annexes[i].high};
    if (threads_words_in(s, all, count) != 0 &&
        !inside_is_not(unwinder, s->v[0].tid, all, count))
        return false;
    control_block_clear(s->target, &s->v[0], region->tls_bytes);
    return true;
}

/* Store in TIDS the threads of S that may be inside the region. Return their number. UNWINDER may
 * be NULL. */
static size_t
find_inside(const struct threads *s, uint64_t base, const struct region *region,
            struct inside *unwinder, uint32_t *tids)
{
    size_t count = 0;

    for (size_t i = 0; i < s->count; i++) {
        struct threads one = *s;

        one.v = &s->v[i];
        one.count = 1;
        if (!is_outside(&one, base, region, unwinder))
            tids[count++] = s->v[i].tid;
    }
    return count;
}

/* Wait until the COUNT threads TIDS have left the region at BASE. Set *RET_UNWINDER once the words
 * on a stack do not suffice. Return false if one stays. */
static bool
await_leaving(struct target *t, uint64_t base, const struct region *region, uint32_t *tids,
              size_t count, struct inside **ret_unwinder)
{
    const char *state = target_status(t, t->pid, "State:");
    bool is_stopped = state != NULL && *state == 'T';
    uint64_t deadline_ns = threads_now_ns() + (is_stopped ? STOPPED_NS_MAX : LEAVE_NS_MAX);
    uint64_t pause_ns = PATCHING_PAUSE_NS;

    while (count > 0 && threads_now_ns() < deadline_ns) {
        threads_pause(t, pause_ns);
        pause_ns = pause_ns * 2 < PAUSE_NS_MAX ? pause_ns * 2 : PAUSE_NS_MAX;
        if (pause_ns == PAUSE_NS_MAX && *ret_unwinder == NULL)
            *ret_unwinder = inside_open(t->pid);
        target_read_maps(t);
        for (size_t i = 0; i < count;) {
            struct threads one;
            bool stopped = threads_stop_this(t, tids[i], &one);

            if (!stopped && target_status(t, tids[i], "State:") != NULL) {
                i++; // It exists, but does not stop now.
                continue;
            }
            if (!stopped || is_outside(&one, base, region, *ret_unwinder))
                tids[i] = tids[--count];
            else
                i++;
            if (stopped)
                threads_resume(&one);
        }
    }
    return count == 0;
}

/* Return the index of a thread of S that can be borrowed; S's count if there is none. */
static size_t
find_borrowable(const struct threads *s)
{
    size_t i = 0;

    while (i < s->count && (s->v[i].has_ended || threads_has_signal(s->target, &s->v[i])))
        i++;
    return i;
}

/* Return the error for a region that cannot be unmapped; RESULT is from the system call. */
static int
report_rest(uint32_t pid, long result, struct err *err)
{
    errno = (int)-result;
    err_errno(err, HEAPTAP_BAD_INPUT, "process %u cannot unmap the recorder (munmap)", pid);
    region_report_rest(pid, err);
    return HEAPTAP_BAD_INPUT;
}

/* Return the error for code that is not as the attach has written it, or cannot be written. */
static int
report_changed(uint32_t pid, struct err *err)
{
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "another program has changed the allocator of process %u since the attach; the "
                   "recorder stays in it", pid);
}

/* Unmap the region at BASE and its annexes. Return the result of the call that failed; 0 = none.
 * The region comes last, because it has the addresses of the annexes. */
static long
unmap_all(struct remote *r, uint64_t base, const struct region *region)
{
    long result = 0;

    for (uint64_t i = 0; result == 0 && i < region->annex_count; i++)
        result = remote_undo(r, SYS_munmap, region->annexes[i].low,
                             region->annexes[i].high - region->annexes[i].low);
    return result != 0 ? result : remote_undo(r, SYS_munmap, base, region->size_bytes);
}

/* End the recorder and unmap the region at BASE, in the only thread of S. Requires all threads of
 * the process to be outside the region, and no way into it. */
static int
unmap_region(struct threads *s, uint64_t base, const struct region *region, struct err *err)
{
    struct target *t = s->target;
    struct remote *r = arena_alloc(&t->arena, sizeof *r);
    int result = remote_take(r, s, err), fault;
    long ended;

    if (result != 0)
        return result;
    r->call_at = region->code;
    r->stack_top = region->stack_top;
    if (!remote_call(r, region->end_function, &ended, &fault))
        result = err_set(err, HEAPTAP_BAD_INPUT,
                         "the recorder does not end in process %u (signal %d); it records no more, "
                         "but its memory stays", t->pid, fault);
    else if ((ended = unmap_all(r, base, region)) < 0)
        result = report_rest(t->pid, ended, err);
    control_block_clear(t, s->v, region->tls_bytes);
    remote_give_back(r);
    return result;
}

/* Remove the region at BASE from the process of S, which is stopped and outside. Thread number
 * INDEX does the work. The others are resumed before, because unmapping takes long. Resume all. */
static int
remove_from(struct threads *s, size_t index, uint64_t base, const struct region *region,
            struct attach_cost *cost, struct err *err)
{
    struct threads one = *s;
    bool is_alone = s->count == 1;
    int r;

    if (!patching_restore_finder(s->target, region)) {
        threads_resume(s);
        return report_changed(s->target->pid, err);
    }
    one.v = arena_alloc(&s->target->arena, sizeof *one.v);
    *one.v = s->v[index];
    one.count = 1;
    s->v[index] = s->v[--s->count];
    threads_resume(s);
    cost->stopped_ns = threads_now_ns() - one.began_ns;
    r = unmap_region(&one, base, region, err);
    if (is_alone)
        cost->stopped_ns = threads_now_ns() - one.began_ns;
    threads_resume(&one);
    return r;
}

/* Remove the region at BASE from process T, before any jump to it was written. No thread can be
 * inside, so it does not matter if some cannot be stopped now. */
static int
remove_unused(struct target *t, uint64_t base, const struct region *region,
              struct attach_cost *cost, struct err *err)
{
    struct threads one;
    int r = threads_stop_one(t, &one, err);

    if (r != 0)
        return r;
    cost->threads = one.count;
    r = unmap_region(&one, base, region, err);
    cost->stopped_ns = threads_now_ns() - one.began_ns;
    threads_resume(&one);
    return r;
}

/* Stop all threads when none is inside the region at BASE, and remove it. */
static int
remove_when_outside(struct target *t, uint64_t base, const struct region *region,
                    struct inside *unwinder, struct attach_cost *cost, struct err *err)
{
    for (size_t i = 1; i <= PATCHING_ATTEMPTS_MAX; i++) {
        struct threads all;
        size_t index;
        uint32_t *tids;
        int r;

        target_read_maps(t);
        r = threads_stop(t, &all, err);
        if (r != 0)
            return r;
        tids = arena_array(&t->arena, all.count, sizeof *tids);
        index = find_borrowable(&all);
        if (index < all.count && find_inside(&all, base, region, unwinder, tids) == 0)
            return remove_from(&all, index, base, region, cost, err);
        threads_resume(&all);
        threads_pause(t, PATCHING_PAUSE_NS * i);
    }
    return err_set(err, HEAPTAP_BAD_INPUT, STAYS, t->pid);
}

int
removal_remove(struct target *t, uint64_t base, const struct region *region,
               struct attach_cost *cost, struct err *err)
{
    struct inside *unwinder = NULL;
    struct threads all;
    uint32_t *tids;
    size_t inside;
    bool ok;
    int r;

    target_read_maps(t);
    if (region->is_active == 0)
        return remove_unused(t, base, region, cost, err);
    r = threads_stop(t, &all, err);
    if (r != 0)
        return r;
    ok = patching_write(t, region, false);
    for (size_t i = 0; ok && i < all.count; i++)
        cost->moved += patching_move_thread(&all.v[i], region, false);
    tids = arena_array(&t->arena, all.count, sizeof *tids);
    inside = find_inside(&all, base, region, NULL, tids);
    cost->threads = all.count;
    cost->stopped_ns = threads_now_ns() - all.began_ns;
    threads_resume(&all);
    if (!ok)
        return report_changed(t->pid, err);
    if (await_leaving(t, base, region, tids, inside, &unwinder))
        r = remove_when_outside(t, base, region, unwinder, cost, err);
    else
        r = err_set(err, HEAPTAP_BAD_INPUT, STAYS, t->pid);
    inside_close(unwinder);
    return r;
}
