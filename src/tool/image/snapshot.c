/* snapshot.c: copy a process's memory by fork.
 *
 * One thread of the stopped process makes a clone call for us. The child has a copy of the memory
 * as of that moment. It is traced from its first instant and never executes an instruction. The
 * kernel copies page tables only, so the stop takes some 25 ms per GiB; a page is copied when the
 * process next writes to it.
 *
 * The program does not notice the child:
 *
 *     no signal     The child has no exit signal, so wait() does not see it, except with __WALL.
 *     descriptors   are shared (CLONE_FILES), so a closed socket or pipe is closed. A plain copy
 *                   would keep its other end waiting.
 *     a zombie      is reaped by a call of wait4 in the process. Only RUSAGE_CHILDREN shows it.
 *
 * The recorder has its memory wiped in children (MADV_WIPEONFORK). A program may do so, or keep
 * memory from children (MADV_DONTFORK). This advice is revoked for the clone.
 *
 * The copied pages need memory: in the worst case as much as the process has, if it writes to all
 * of it while the child lives. So there is no snapshot unless the system and all control groups
 * have room for that. If memory runs out nevertheless, the child is the first to be killed. The
 * kernel also kills it when we end.
 *
 * Shared memory is not copied, and may change while it is read. Pointers there are rare, because
 * another process could not follow them.
 *
 * Rejected: reading all memory during the stop, which takes five times as long and our own memory.
 */
#include "image/snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "image/injected_call.h"
#include "image/live_memory.h"

/* Half of the rate measured with pages of 4 KiB. */
#define COPY_BYTES_PER_MS (UINT64_C(23) << 20)

/* Attempts to find a thread for wait4, and the time between them. */
enum { REAP_ATTEMPTS = 500, REAP_WAIT_NS = 2000000 };

enum { ORIG_RAX_AT = 15 }; // Index in memory_thread's registers.

/* Return the number behind KEY in the file PATH, in bytes if it is in kB; 0 if there is none. */
static uint64_t
file_number(const char *path, const char *key)
{
    FILE *f = fopen(path, "re");
    char line[256];
    uint64_t value = 0;

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, key, strlen(key)) == 0) {
            value = strtoull(line + strlen(key), NULL, 10);
            if (strstr(line, " kB") != NULL)
                value *= 1024;
            break;
        }
    if (f != NULL)
        fclose(f);
    return value;
}

/* Return the bytes that the control group at DIRECTORY may still take, by its files LIMIT and
 * USAGE. */
static uint64_t
group_room(const char *directory, const char *limit, const char *usage)
{
    char path[4400];
    uint64_t max, used, unused;
    FILE *f;
    bool known = false;

    snprintf(path, sizeof path, "%s/%s", directory, limit);
    f = fopen(path, "re");
    if (f != NULL) {
        known = fscanf(f, "%" SCNu64, &max) == 1; // "max" is no number.
        fclose(f);
    }
    if (!known)
        return UINT64_MAX;
    snprintf(path, sizeof path, "%s/%s", directory, usage);
    used = file_number(path, "");
    snprintf(path, sizeof path, "%s/memory.stat", directory);
    unused = file_number(path, "inactive_file ");
    used -= unused < used ? unused : used;
    return used < max ? max - used : 0;
}

/* Return the bytes that all control groups of process PID may still take. */
static uint64_t
groups_room(uint32_t pid)
{
    char name[64], line[4096], directory[4200];
    uint64_t room = UINT64_MAX;
    FILE *f;

    snprintf(name, sizeof name, "/proc/%" PRIu32 "/cgroup", pid);
    f = fopen(name, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        const char *kind = strchr(line, ':'), *group = kind != NULL ? strchr(kind + 1, ':') : NULL;
        bool second = group == kind + 1, first = group != NULL && strncmp(kind, ":memory:", 8) == 0;
        size_t root;

        line[strcspn(line, "\n")] = '\0';
        if (group == NULL || (!first && !second))
            continue;
        root = strlen(first ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup");
        snprintf(directory, sizeof directory, "/sys/fs/cgroup%s%s", first ? "/memory" : "",
                 group + 1);
        // Each ancestor has another limit.
        for (;;) {
            uint64_t some =
                first ? group_room(directory, "memory.limit_in_bytes", "memory.usage_in_bytes")
                      : group_room(directory, "memory.max", "memory.current");

            room = some < room ? some : room;
            if (strlen(directory) <= root)
                break;
            *strrchr(directory, '/') = '\0';
        }
    }
    if (f != NULL)
        fclose(f);
    return room;
}

int
snapshot_prepare(const struct memory *m, struct snapshot *ret, struct err *err)
{
    char path[64];
    uint64_t own, system, groups, room;

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/status", m->thread);
    own = file_number(path, "RssAnon:");
    *ret = (struct snapshot){.copied_bytes = file_number(path, "VmRSS:")};
    system = file_number("/proc/meminfo", "MemAvailable:");
    groups = groups_room(m->pid);
    room = system < groups ? system : groups;
    if (room < own)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "its %" PRIu64 " MiB of private memory could not be copied into the %" PRIu64
                       " MiB that %s free",
                       own >> 20, room >> 20,
                       system < groups ? "are" : "its control group has");
    return injected_find_code(m, &ret->code) ? 0
                             : err_set(err, HEAPTAP_BAD_INPUT,
                                       "it has no code that makes system calls");
}

uint64_t
snapshot_stop_ns(const struct snapshot *s)
{
    return s->copied_bytes / COPY_BYTES_PER_MS * 1000000;
}

/* Borrow a thread of M for C: if possible one that is in a system call. ALONE means that all others
 * are stopped. Returns like
 * snapshot_take. */
static int
borrow(const struct memory *m, const struct snapshot *s, bool alone, struct injected *c,
       struct err *err)
{
    int r = err_set(err, HEAPTAP_NOT_FOUND, "no thread can be borrowed");

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < m->thread_count; i++) {
            const struct memory_thread *t = &m->threads[i];
            bool in_call = t->registers[ORIG_RAX_AT] != UINT64_MAX;

            if (t->register_count == 0 || t->pending != 0 || in_call != (pass == 0))
                continue;
            r = injected_take(m, t->tid, &s->code, alone, c, err);
            if (r == 0)
                return 0;
        }
    return r;
}

/* Let a child of M inherit all memory if INHERIT, else restore the advice that the program and the
 * recorder gave. */
static void
advise(const struct memory *m, struct injected *c, bool inherit)
{
    for (size_t i = 0; i < m->region_count; i++) {
        const struct memory_region *r = &m->regions[i];
        uint64_t range[6] = {r->start, r->end - r->start};

        if (r->readable_bytes == 0)
            continue;
        if (r->wiped) {
            range[2] = inherit ? MADV_KEEPONFORK : MADV_WIPEONFORK;
            injected_call(c, SYS_madvise, range);
        }
        if (r->not_inherited) {
            range[2] = inherit ? MADV_DOFORK : MADV_DONTFORK;
            injected_call(c, SYS_madvise, range);
        }
    }
}

/* Write VALUE to the file NAME of process PID. */
static void
write_value(uint32_t pid, const char *name, const char *value)
{
    char path[64];
    FILE *f;

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/%s", pid, name);
    f = fopen(path, "we");
    if (f == NULL)
        return;
    fputs(value, f);
    fclose(f);
}

/* Make the child that C's thread has made ready for reads. Return false if it is gone. */
static bool
await_child(uint32_t child)
{
    int status;

    while (waitpid((pid_t)child, &status, __WALL) < 0)
        if (errno != EINTR)
            return false;
    if (!WIFSTOPPED(status))
        return false;
    ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_EXITKILL);
    write_value(child, "oom_score_adj", "1000");
    return true;
}

/* Kill and reap the traced CHILD. Its zombie remains for its parent. */
static void
end_child(uint32_t child)
{
    int status;

    kill((pid_t)child, SIGKILL);
    while (waitpid((pid_t)child, &status, __WALL) > 0 || errno == EINTR)
        if (!WIFSTOPPED(status))
            break;
}

/* Let M's process reap CHILD. One thread of it is stopped. */
static bool
reap_in(struct memory *m, const struct snapshot *s)
{
    const uint64_t arguments[6] = {s->child, 0, __WALL | WNOHANG};
    struct injected c;
    bool done = false;

    if (borrow(m, s, false, &c, NULL) == 0) {
        long r = injected_call(&c, SYS_wait4, arguments);

        injected_give_back(&c);
        m->threads[0].pending = c.pending;
        done = r == (long)s->child || r == -ECHILD;
    }
    live_memory_go_on(m);
    return done;
}

int
snapshot_take(struct memory *m, struct snapshot *s, struct err *err)
{
    uint64_t arguments[6] = {CLONE_FILES};
    struct injected c;
    long made;
    int r = borrow(m, s, true, &c, err);

    if (r != 0)
        return r;
    advise(m, &c, true);
    s->thread = c.tid;
    arguments[1] = c.child_stack;
    made = injected_call(&c, SYS_clone, arguments);
    s->child = c.child;
    if (s->child != 0 && !await_child(s->child)) {
        const uint64_t reaped[6] = {s->child, 0, __WALL | WNOHANG};

        end_child(s->child);
        injected_call(&c, SYS_wait4, reaped);
        s->child = 0;
        made = -EOWNERDEAD;
    }
    advise(m, &c, false);
    injected_give_back(&c);
    for (size_t i = 0; i < m->thread_count; i++)
        if (m->threads[i].tid == c.tid)
            m->threads[i].pending = c.pending;
    if (s->child == 0) {
        errno = made < 0 ? (int)-made : ECHILD;
        return err_errno(err, HEAPTAP_BAD_INPUT, "it cannot be forked");
    }
    m->snapshot = s->child;
    memory_watch(m);
    return 0;
}

bool
snapshot_release(struct memory *m, struct snapshot *s)
{
    static const struct timespec while_ = {.tv_nsec = REAP_WAIT_NS};
    bool done = false;

    if (s->child == 0)
        return true;
    end_child(s->child);
    m->snapshot = 0;
    memory_watch(m);
    for (int i = 0; i < REAP_ATTEMPTS && !done; i++) {
        struct memory one = {.pid = m->pid,
                             .thread = m->thread,
                             .first_stack = m->first_stack,
                             .lives = true,
                             .word_bytes = m->word_bytes,
                             .regions = m->regions,
                             .region_count = m->region_count};

        memory_watch(&one);
        done = (live_memory_stop_one(&one, s->thread) && reap_in(&one, s)) ||
               kill((pid_t)m->pid, 0) != 0;
        memory_close(&one);
        if (!done)
            nanosleep(&while_, NULL);
    }
    s->child = 0;
    return done;
}
