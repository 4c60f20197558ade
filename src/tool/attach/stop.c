/* stop.c: stop the threads of another process for moments.
 *
 * A thread is seized and interrupted, which sends no signal. All threads are interrupted before the
 * first is awaited, so that a stop takes little longer than the slowest thread. New threads may
 * start meanwhile, so the list is read until it has no more. A thread that waits for the child of a
 * vfork, or for a disk, does not stop. Then all others are resumed, and the stop is tried again a
 * few times. The late thread stops when its wait ends, and is resumed in the pause.
 *
 * restart_call (image/live_memory.h) repairs the system calls that a stop would let fail. */
#include "attach/stop.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "image/live_memory.h"

#define STOP_NS_MAX UINT64_C(300000000)

// Results of interrupted calls inside the kernel.
enum { ERESTARTNOHAND_ = 514, ERESTART_RESTARTBLOCK_ = 516 };

enum { BORROW_ATTEMPTS = 50, BORROW_WAIT_NS = 2000000 };
enum { TRACER_ATTEMPTS = 50, TRACER_WAIT_NS = 20000000 };
enum { WAIT_NS = 20000, YIELDS = 20, STACK_WORDS = 8192, LATE_MAX = 64, SLICE_NS = 1000000 };

/* A thread in the kernel is given up early, because the others wait. The attempts together last
 * about a second. */
#define KERNEL_NS_MAX UINT64_C(20000000)
#define KERNEL_WAIT_NS UINT64_C(5000000)
enum { KERNEL_ATTEMPTS = 8 };

/* Threads that did not stop in time. They are still seized, and will stop later. */
static uint32_t late[LATE_MAX];
static size_t late_count;

uint64_t
threads_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct stopped *
find_stopped(const struct threads *s, uint32_t tid)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->v[i].tid == tid)
            return &s->v[i];
    return NULL;
}

/* Remove thread TID from the late ones. Return true if it was one. */
static bool
take_late(uint32_t tid)
{
    for (size_t i = 0; i < late_count; i++)
        if (late[i] == tid) {
            late[i] = late[--late_count];
            return true;
        }
    return false;
}

/* Seize and interrupt thread TID, and add it to S. Return 0, or the error number. */
static int
begin_stop(struct threads *s, uint32_t tid)
{
    bool is_seized = take_late(tid) && ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0;

    if (!is_seized && ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
        return errno;
    arena_grow(&s->target->arena, &s->v, &s->capacity, s->count, sizeof *s->v);
    s->v[s->count++] = (struct stopped){.tid = tid};
    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
    return 0;
}

/* Read the registers of T, which has stopped with STATUS. */
static void
note_stop(const struct target *target, struct stopped *t, int status)
{
    // A pending signal has stopped the thread instead; it is delivered when the thread is resumed.
    // Our own stop is reported as an event.
    if (status >> 16 == 0)
        t->pending = (uint32_t)WSTOPSIG(status);
    if (ptrace(PTRACE_GETREGS, t->tid, NULL, &t->registers) != 0) {
        t->has_ended = true;
        return;
    }
    if (t->pending == 0) {
        restart_call(target->pid, t->tid, t->registers);
        ptrace(PTRACE_GETREGS, t->tid, NULL, &t->registers);
    }
    // The kernel would continue a sleep by the call restart_syscall, which the filter may punish.
    // Let it repeat the call itself, which then sleeps for its whole time.
    if (target->is_filtered && (int64_t)t->registers.rax == -ERESTART_RESTARTBLOCK_) {
        t->registers.rax = (uint64_t)-ERESTARTNOHAND_;
        t->is_changed = true;
    }
}

/* Wait until T has stopped or ended. Return false if it does neither before DEADLINE_NS. */
static bool
await_stop(const struct target *target, struct stopped *t, uint64_t deadline_ns)
{
    for (int i = 0;; i++) {
        static const struct timespec pause = {.tv_nsec = WAIT_NS};
        int status;
        pid_t got = waitpid((pid_t)t->tid, &status, __WALL | WNOHANG);

        if (got < 0 || (got > 0 && !WIFSTOPPED(status))) {
            t->has_ended = true;
            return true;
        }
        if (got > 0) {
            note_stop(target, t, status);
            return true;
        }
        if (threads_now_ns() > deadline_ns)
            return false;
        // Most threads stop at once, but only if they get the processor.
        if (i < YIELDS)
            sched_yield();
        else
            nanosleep(&pause, NULL);
    }
}

/* Interrupt the threads that are not in S yet. Return the number of new ones, or a negative error
 * number. */
static int
begin_others(struct threads *s, const char *path)
{
    DIR *d = opendir(path);
    struct dirent *entry;
    int count = 0, error;

    if (d == NULL)
        return -ESRCH;
    while (count >= 0 && (entry = readdir(d)) != NULL) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

        if (tid == 0 || find_stopped(s, tid) != NULL)
            continue;
        error = begin_stop(s, tid);
        if (error == 0)
            count++;
        else if (error != ESRCH)
            count = -error;
    }
    closedir(d);
    return count;
}

/* Set ERR to the reason why process T cannot be traced, with ERROR. */
static int
report_untraceable(struct target *t, int error, struct err *err)
{
    const char *tracer = target_status(t, t->pid, "TracerPid:");
    const char *name;

    if (error == ESRCH)
        return err_set(err, HEAPTAP_BAD_INPUT, "process %u has ended", t->pid);
    if (tracer != NULL && strcmp(tracer, "0") != 0) {
        name = target_status(t, (uint32_t)strtoul(tracer, NULL, 10), "Name:");
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u is being traced by process %s%s%s%s; end that first", t->pid,
                       tracer, name != NULL ? " (" : "", name != NULL ? name : "",
                       name != NULL ? ")" : "");
    }
    errno = error;
    return err_errno(err, HEAPTAP_BAD_INPUT,
                     "cannot stop process %u; run heaptap as its user or as root, and see "
                     "kernel.yama.ptrace_scope", t->pid);
}

/* Wait shortly if another heaptap traces process T, which takes little time. Return false if none
 * does. */
static bool
await_tracer(struct target *t)
{
    static const struct timespec pause = {.tv_nsec = TRACER_WAIT_NS};
    const char *tracer = target_status(t, t->pid, "TracerPid:");
    FILE *f = tracer != NULL ? fopen(arena_printf(&t->arena, "/proc/%s/comm", tracer), "re") : NULL;
    char name[32] = "";

    if (f != NULL) {
        if (fgets(name, sizeof name, f) == NULL)
            name[0] = '\0';
        fclose(f);
    }
    if (strcmp(name, "heaptap\n") != 0)
        return false;
    nanosleep(&pause, NULL);
    return true;
}

/* Return the letter of thread TID's state; 0 if it is gone. */
static char
state_of(struct target *t, uint32_t tid)
{
    const char *state = target_status(t, tid, "State:");

    return state != NULL ? *state : '\0';
}

/* Like threads_stop, and fail if another process traces T. */
static int
stop_untraced(struct target *t, struct threads *ret, int *ret_error, struct err *err)
{
    const char *path = arena_printf(&t->arena, "/proc/%u/task", t->pid);
    size_t done = 0;
    int more;

    *ret = (struct threads){.target = t, .began_ns = threads_now_ns()};
    while ((more = begin_others(ret, path)) > 0) {
        for (; done < ret->count; done++) {
            uint32_t tid = ret->v[done].tid;

            if (await_stop(t, &ret->v[done], ret->began_ns + KERNEL_NS_MAX) ||
                (state_of(t, tid) != 'D' &&
                 await_stop(t, &ret->v[done], ret->began_ns + STOP_NS_MAX)))
                continue;
            threads_resume(ret);
            *ret_error = EBUSY;
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "thread %u of process %u does not stop: it waits for a disk or for the "
                           "child of a vfork; try again later", tid, t->pid);
        }
    }
    if (more == 0 && ret->count > 0) {
        ret->stopped_ns = threads_now_ns();
        return 0;
    }
    threads_resume(ret);
    *ret_error = more < 0 ? -more : ESRCH;
    return report_untraceable(t, *ret_error, err);
}

int
threads_stop(struct target *t, struct threads *ret, struct err *err)
{
    int r, error = 0, busy = 0;

    for (int i = 0; (r = stop_untraced(t, ret, &error, err)) != 0; i++) {
        if (error == EBUSY && busy < KERNEL_ATTEMPTS)
            threads_pause(t, KERNEL_WAIT_NS << busy++);
        else if (error != EPERM || i >= TRACER_ATTEMPTS || !await_tracer(t))
            break;
    }
    return r;
}

bool
threads_stop_this(struct target *t, uint32_t tid, struct threads *ret)
{
    *ret = (struct threads){.target = t, .began_ns = threads_now_ns()};
    if (begin_stop(ret, tid) != 0)
        return false;
    if (await_stop(t, &ret->v[0], ret->began_ns + STOP_NS_MAX) && !ret->v[0].has_ended) {
        ret->stopped_ns = threads_now_ns();
        return true;
    }
    threads_resume(ret);
    return false;
}

/* Return true if thread TID may be borrowed: in pass 0 one that sleeps, in pass 1 any other. */
static bool
may_borrow(struct target *t, uint32_t tid, int pass)
{
    char state = state_of(t, tid);

    return pass == 0 ? state == 'S' : state == 'R' || state == 't' || state == 'T';
}

bool
threads_has_signal(struct target *target, const struct stopped *t)
{
    const char *waiting = target_status(target, t->tid, "SigPnd:");

    return t->pending != 0 || (waiting != NULL && strtoull(waiting, NULL, 16) != 0);
}

/* Stop the first thread that may be borrowed in PASS. Return 0, or the error number. */
static int
stop_any(struct target *t, int pass, struct threads *ret)
{
    DIR *d = opendir(arena_printf(&t->arena, "/proc/%u/task", t->pid));
    struct dirent *entry;
    int error = ESRCH;

    while (d != NULL && error != 0 && (entry = readdir(d)) != NULL) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

        if (tid == 0 || !may_borrow(t, tid, pass))
            continue;
        errno = EAGAIN;
        if (!threads_stop_this(t, tid, ret)) {
            error = errno;
        } else if (threads_has_signal(t, &ret->v[0])) {
            threads_resume(ret);
            error = EAGAIN;
        } else {
            error = 0;
        }
    }
    if (d != NULL)
        closedir(d);
    return error;
}

int
threads_stop_one(struct target *t, struct threads *ret, struct err *err)
{
    static const struct timespec pause = {.tv_nsec = BORROW_WAIT_NS};
    int error = ESRCH;

    for (int i = 0; i < BORROW_ATTEMPTS; i++) {
        if ((error = stop_any(t, 0, ret)) == 0 || (error = stop_any(t, 1, ret)) == 0)
            return 0;
        if (state_of(t, t->pid) == '\0')
            return report_untraceable(t, ESRCH, err);
        if (error == EPERM && !await_tracer(t))
            break;
        nanosleep(&pause, NULL);
    }
    if (error == EPERM)
        return report_untraceable(t, error, err);
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "process %u has no thread that could be stopped; try again later", t->pid);
}

/* Resume thread T, whose stop has not been seen yet. Return false if it has not stopped. */
static bool
release(const struct target *target, struct stopped *t)
{
    if (!await_stop(target, t, 0))
        return false;
    if (!t->has_ended && t->is_changed)
        ptrace(PTRACE_SETREGS, t->tid, NULL, &t->registers);
    if (!t->has_ended)
        ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(uintptr_t)t->pending);
    return true;
}

void
threads_pause(const struct target *t, uint64_t ns)
{
    static const struct timespec slice = {.tv_nsec = SLICE_NS};
    uint64_t end_ns = threads_now_ns() + ns;

    do {
        for (size_t i = late_count; i-- > 0;) {
            struct stopped one = {.tid = late[i]};

            if (release(t, &one))
                late[i] = late[--late_count];
        }
        nanosleep(&slice, NULL);
    } while (threads_now_ns() < end_ns);
}

void
threads_resume(struct threads *s)
{
    for (size_t i = 0; i < s->count; i++) {
        struct stopped *t = &s->v[i];

        if (t->has_ended)
            continue;
        if (t->is_changed)
            ptrace(PTRACE_SETREGS, t->tid, NULL, &t->registers);
        // A thread that did not stop in time may have stopped now. If not, threads_pause releases
        // it, or the kernel when we end.
        if (ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(uintptr_t)t->pending) != 0 &&
            !release(s->target, t) && late_count < LATE_MAX)
            late[late_count++] = t->tid;
    }
    s->count = 0;
}

/* The used ranges, and the bounds of all together, which nearly every word is outside of. */
struct word_search {
    const struct word_range *ranges;
    size_t count;
    struct word_range all;
};

static bool
is_found(const struct word_search *w, uint64_t word)
{
    if (likely(word < w->all.low || word >= w->all.high))
        return false;
    for (size_t i = 0; i < w->count; i++)
        if (word >= w->ranges[i].low && word < w->ranges[i].high)
            return true;
    return false;
}

/* Return the number of words of [FROM, TO) in the process that W searches. Words below the stack
 * pointer do not count: they are left over from calls that have returned. */
static size_t
count_words(const struct target *t, uint64_t from, uint64_t to, const struct word_search *w)
{
    static uint64_t words[STACK_WORDS];
    size_t found = 0;

    while (from < to) {
        size_t wanted = to - from < sizeof words ? to - from : sizeof words;
        size_t got = target_read_some(t, from, words, wanted) / sizeof *words;

        for (size_t i = 0; i < got; i++)
            found += is_found(w, words[i]);
        if (got == 0)
            break;
        from += got * sizeof *words;
    }
    return found;
}

size_t
threads_words_in(const struct threads *s, const struct word_range *ranges, size_t count)
{
    struct word_search w = {ranges, count, {UINT64_MAX, 0}};
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        w.all.low = ranges[i].low < w.all.low ? ranges[i].low : w.all.low;
        w.all.high = ranges[i].high > w.all.high ? ranges[i].high : w.all.high;
    }
    for (size_t i = 0; i < s->count; i++) {
        const struct user_regs_struct *r = &s->v[i].registers;
        const struct target_map *stack = target_map_at(s->target, r->rsp);
        uint64_t end = stack != NULL ? stack->end : r->rsp;

        if (s->v[i].has_ended)
            continue;
        // A thread's control block is at the end of its stack.
        if (r->fs_base > r->rsp && r->fs_base < end)
            end = r->fs_base;
        found += is_found(&w, r->rip);
        found += count_words(s->target, round_down(r->rsp, 8), end, &w);
    }
    return found;
}
