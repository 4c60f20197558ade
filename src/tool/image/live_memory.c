/* live_memory.c: read the memory of a running process through /proc.
 *
 * The ranges are read from /proc/TID/smaps when the memory is opened. TID is the first thread, or
 * another if the first has ended: the kernel shows no memory of an ended thread. The bytes are read
 * by process_vm_readv, which requires permission to trace the process and does not stop it. Ranges
 * that the recorder excludes from dumps (VmFlags dd) are left out: they contain its remembered
 * stacks, which must not count as pointers of the program. Ranges that the program excludes are
 * read.
 *
 * A search for pointers must stop the process, because a pointer that moves from one variable to
 * another would be seen in neither. Each thread is seized. This sends no signal, and if we die the
 * kernel resumes the threads. New threads may start meanwhile, so the list is read again until all
 * its threads are stopped.
 *
 * A thread may be waiting in the kernel uninterruptibly, for the child of its vfork or for a disk.
 * It would stop only after the wait, and all others would have to wait as long. It does not run
 * either. So it is left alone, and /proc provides its stack pointer.
 *
 * A stop makes some system calls fail with EINTR (signal(7)). A program without signal handlers
 * need not expect that. restart_call.c restarts these calls. The kernel restarts the others.
 *
 * A traced parent gets a SIGCHLD even if it ignores it. If the parent is stopped, the signal wakes
 * another thread, and its call fails with EINTR. So all threads are seized before one is stopped:
 * a seized thread stops for the signal, and its call is restarted. Threads in such calls are the
 * last to be resumed.
 *
 * Some calls return a partial result, which no restart can repair. A thread in such a call is
 * spared if nobody needs its registers, which only a stop shows. It is asleep, so it changes
 * nothing. Its number of context switches proves afterwards that it has not run.
 *
 * Rejected: sparing threads in a search for leaks. Their registers may have the only pointer to a
 * block, often to everything that main() uses. Freezing by a control group interrupts calls as
 * well. */
#include "image/live_memory.h"

#include <elf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "image/saved_registers.h"
#include "profile/processes.h"

enum { VECTORS_MAX = 64 << 10 }; // More than any processor needs; the kernel writes no more.

enum { ROUNDS_MAX = 16, RAX_AT = 10, PC_AT = 16, SP_AT = 19, POINTER_AT = 21 };

/* Number of checks for a thread that the kernel still holds, and the interval between them. */
enum { BLOCKED_CHECKS = 20, BLOCKED_WAIT_NS = 1000000 };

/* Number and interval of checks for threads in fragile calls, and the number of consecutive checks
 * that must find none. */
enum { FRAGILE_LOOKS = 100, FRAGILE_WAIT_NS = 10000000, FRAGILE_CLEAR = 3 };

/* Number and interval of attempts to lock a process. */
enum { LOCK_LOOKS = 500, LOCK_WAIT_NS = 20000000 };

enum stop_result { STOP_FAILED, STOP_DONE, STOP_BLOCKED };

/* Read LINE of smaps, which is not a range and is about the latest range:
 *
 *     Anonymous, Swap   the process's own pages in a private mapping
 *     VmFlags           " dd" excludes the range from dumps: it is the recorder's if a child gets
 *                       it wiped ("wf"), if it is reserved only ("nr") or shared ("sh"), and a
 *                       device's if "io" or "pf"; a child does not get it if "dc" */
static void
read_detail(struct memory *m, const char *line)
{
    static const char *const others[] = {" wf", " nr", " sh", " io", " pf"};
    struct memory_region *r = m->region_count > 0 ? &m->regions[m->region_count - 1] : NULL;
    uint64_t kilobytes;

    if (r == NULL)
        return;
    if ((sscanf(line, "Anonymous: %" SCNu64, &kilobytes) == 1 ||
         sscanf(line, "Swap: %" SCNu64, &kilobytes) == 1) && kilobytes > 0) {
        r->clean = false;
        r->readable_bytes = r->end - r->start;
    }
    if (strncmp(line, "VmFlags:", 8) != 0)
        return;
    r->wiped = strstr(line, " wf") != NULL;
    r->not_inherited = strstr(line, " dc") != NULL && strstr(line, " io") == NULL;
    if (strstr(line, " dd") != NULL)
        for (size_t i = 0; i < countof(others); i++)
            if (strstr(line, others[i]) != NULL)
                r->readable_bytes = 0;
}

static void
read_map(struct memory *m, size_t *region_capacity, size_t *mapping_capacity, char *line)
{
    uint64_t start, end, off, inode;
    char access[5];
    int path_at = 0;
    bool readable, shared;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &start, &end,
               access, &off, &inode, &path_at) < 5) {
        read_detail(m, line);
        return;
    }
    shared = access[3] == 's';
    readable = access[0] == 'r' && strstr(line, "[vvar") == NULL;
    arena_grow(&m->arena, &m->regions, region_capacity, m->region_count, sizeof *m->regions);
    m->regions[m->region_count++] =
        (struct memory_region){.start = start,
                               .end = end,
                               .readable_bytes = readable ? end - start : 0,
                               .access = (access[0] == 'r' ? (uint32_t)MEMORY_READ : 0) |
                                         (access[1] == 'w' ? (uint32_t)MEMORY_WRITE : 0) |
                                         (access[2] == 'x' ? (uint32_t)MEMORY_EXECUTE : 0),
                               .clean = access[1] != 'w' &&
                                        !(shared && strstr(line, " (deleted)") != NULL)};
    if (path_at != 0 && strcmp(line + path_at, "[stack]") == 0)
        m->first_stack = start;
    if (inode == 0 || path_at == 0)
        return;
    arena_grow(&m->arena, &m->mappings, mapping_capacity, m->mapping_count, sizeof *m->mappings);
    m->mappings[m->mapping_count++] =
        (struct memory_mapping){start, end, off, arena_strdup(&m->arena, line + path_at)};
}

/* Read the ranges of M from the file NAME of PROCESS: "smaps", or "maps" without details. Return 0,
 * or an error number. */
static int
read_ranges(struct memory *m, uint32_t process, const char *name)
{
    size_t region_capacity = 0, mapping_capacity = 0, line_bytes = 0;
    char *line = NULL;
    FILE *f = fopen(arena_printf(&m->arena, "/proc/%u/%s", process, name), "re");

    m->regions = NULL;
    m->mappings = NULL;
    m->region_count = m->mapping_count = 0;
    if (f == NULL)
        return errno;
    while (getline(&line, &line_bytes, f) > 0)
        read_map(m, &region_capacity, &mapping_capacity, line);
    free(line);
    fclose(f);
    memory_sort(m);
    return 0;
}

static int
read_maps(struct memory *m, struct err *err)
{
    int error;

    m->thread = processes_thread(m->pid);
    error = read_ranges(m, m->thread, "smaps");
    if (error == ENOENT)
        return err_set(err, HEAPTAP_BAD_INPUT, "there is no process %u", m->pid);
    errno = error;
    if (error != 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot look at process %u", m->pid);
    if (m->region_count == 0)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u has no visible memory: it has ended, or belongs to another user",
                       m->pid);
    return 0;
}

/* Return 0 if we may read the memory of M, else the errno. */
static int
probe(const struct memory *m)
{
    for (size_t i = 0; i < m->region_count; i++) {
        char byte;
        struct iovec here = {&byte, 1};
        struct iovec remote = {(void *)(uintptr_t)m->regions[i].start, 1};

        if (m->regions[i].readable_bytes == 0)
            continue;
        if (process_vm_readv((pid_t)m->thread, &here, 1, &remote, 1, 0) == 1)
            return 0;
        if (errno == EPERM || errno == ESRCH)
            return errno;
    }
    return EFAULT;
}

static bool
is_stopped(const struct memory *m, uint32_t tid)
{
    for (size_t i = 0; i < m->thread_count; i++)
        if (m->threads[i].tid == tid)
            return true;
    return false;
}

/* Return the first line of the file NAME of thread TID; "" if there is none. From M's arena. */
static const char *
live_memory_line_of(struct memory *m, uint32_t tid, const char *name)
{
    FILE *f = fopen(arena_printf(&m->arena, "/proc/%u/task/%u/%s", m->pid, tid, name), "re");
    char line[1024] = "";

    if (f != NULL) {
        if (fgets(line, sizeof line, f) == NULL)
            line[0] = '\0';
        fclose(f);
    }
    return arena_strdup(&m->arena, line);
}

/* Return the letter of thread TID's state in "stat"; 0 if it is gone. */
static char
state_of(struct memory *m, uint32_t tid)
{
    // The state follows the name, which may contain any character.
    const char *end = strrchr(live_memory_line_of(m, tid, "stat"), ')');

    return end != NULL && end[1] == ' ' ? end[2] : '\0';
}

/* Return the command line of M's process, its words separated by blanks; "" if it is not visible.
 * From M's arena. */
static const char *
command_line(struct memory *m)
{
    char line[1024];
    FILE *f = fopen(arena_printf(&m->arena, "/proc/%u/cmdline", m->pid), "re");
    size_t length = f != NULL ? fread(line, 1, sizeof line, f) : 0;

    if (f != NULL)
        fclose(f);
    while (length > 0 && line[length - 1] == '\0')
        length--;
    for (size_t i = 0; i < length; i++)
        line[i] = line[i] != '\0' ? line[i] : ' ';
    return arena_strndup(&m->arena, line, length);
}

int
live_memory_open(uint32_t pid, struct memory *ret, struct err *err)
{
    int r, error;

    *ret = (struct memory){
        .pid = pid, .lives = true, .word_bytes = 8, .machine = EM_X86_64, .program = ""};
    ret->name = arena_printf(&ret->arena, "process %u", pid);
    r = read_maps(ret, err);
    if (r == 0 && (error = probe(ret)) != 0)
        r = error == EPERM
                ? err_set(err, HEAPTAP_BAD_INPUT,
                          "process %u may not be looked into; run heaptap as its user or as root, "
                          "and see kernel.yama.ptrace_scope",
                          pid)
                : err_set(err, HEAPTAP_BAD_INPUT, "the memory of process %u cannot be read", pid);
    if (r != 0) {
        memory_close(ret);
        return r;
    }
    ret->stopped = state_of(ret, ret->thread) == 'T';
    ret->program = command_line(ret);
    memory_watch(ret);
    return 0;
}

/* Return true if thread TID waits uninterruptibly in the kernel for the whole time of the
 * checks. */
static bool
is_uninterruptible(struct memory *m, uint32_t tid)
{
    static const struct timespec while_ = {.tv_nsec = BLOCKED_WAIT_NS};

    for (int i = 0; i < BLOCKED_CHECKS; i++) {
        if (state_of(m, tid) != 'D')
            return false;
        nanosleep(&while_, NULL);
    }
    return true;
}

/* Return true if thread TID is gone or a zombie. */
static bool
has_ended(struct memory *m, uint32_t tid)
{
    char state = state_of(m, tid);

    return state == '\0' || state == 'Z' || state == 'X';
}

static void
add_thread(struct memory *m, size_t *capacity, struct memory_thread t)
{
    arena_grow(&m->arena, &m->threads, capacity, m->thread_count, sizeof *m->threads);
    m->threads[m->thread_count++] = t;
}

/* Return thread TID with its sp and pc, the last two numbers of LINE, its line of "syscall". */
static struct memory_thread
thread_in_call(uint32_t tid, const char *line)
{
    struct memory_thread t = {.tid = tid};
    const char *at = strrchr(line, ' ');

    if (at != NULL) {
        t.pc = strtoull(at, NULL, 16);
        while (at > line && at[-1] != ' ')
            at--;
        t.sp = strtoull(at, NULL, 16);
    }
    return t;
}

/* Return true if LINE, a thread's line of "syscall", shows it asleep in a fragile call. */
static bool
is_fragile(const char *line)
{
    uint64_t number, a[6];

    return sscanf(line,
                  "%" SCNu64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
                  " %" SCNx64,
                  &number, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5]) == 7 &&
           call_is_fragile(number, a);
}

/* Return the number behind KEY in thread TID's "status"; 0 if there is none. */
static uint64_t
status_number(const struct memory *m, uint32_t tid, const char *key)
{
    char path[64], line[256];
    uint64_t value = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%u/task/%u/status", m->pid, tid);
    f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtoull(line + strlen(key), NULL, 10);
    if (f != NULL)
        fclose(f);
    return value;
}

/* Return the number of context switches of thread TID. */
static uint64_t
switches_of(const struct memory *m, uint32_t tid)
{
    return status_number(m, tid, "voluntary_ctxt_switches:") +
           status_number(m, tid, "nonvoluntary_ctxt_switches:");
}

/* If thread TID is asleep in a fragile call, add it to M without stopping it. Return false if it is
 * not. */
static bool
spare(struct memory *m, size_t *capacity, uint32_t tid)
{
    uint64_t switches = switches_of(m, tid);
    const char *line = live_memory_line_of(m, tid, "syscall");
    struct memory_thread t = thread_in_call(tid, line);

    if (!is_fragile(line))
        return false;
    t.asleep_in = line;
    t.switches = switches;
    add_thread(m, capacity, t);
    return true;
}

bool
live_memory_moved(struct memory *m)
{
    for (size_t i = 0; i < m->thread_count; i++) {
        const struct memory_thread *t = &m->threads[i];

        // A switch is counted only when the thread leaves the processor. While it runs, its
        // "syscall" has no such line, so both are compared.
        if (t->asleep_in != NULL &&
            (strcmp(live_memory_line_of(m, t->tid, "syscall"), t->asleep_in) != 0 ||
             switches_of(m, t->tid) != t->switches))
            return true;
    }
    return false;
}

/* Return true if a thread of M, listed in PATH, is asleep in a fragile call. */
static bool
any_fragile(struct memory *m, const char *path)
{
    DIR *d = opendir(path);
    struct dirent *entry;
    bool any = false;

    while (d != NULL && !any && (entry = readdir(d)) != NULL)
        any = is_fragile(
            live_memory_line_of(m, (uint32_t)strtoul(entry->d_name, NULL, 10), "syscall"));
    if (d != NULL)
        closedir(d);
    return any;
}

int
live_memory_lock(const struct memory *m)
{
    static const struct timespec while_ = {.tv_nsec = LOCK_WAIT_NS};
    char path[32];
    int fd;

    // Opening this file needs the right to trace the process, so nobody else can hold the lock.
    snprintf(path, sizeof path, "/proc/%u/mem", m->pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < LOCK_LOOKS && flock(fd, LOCK_EX | LOCK_NB) != 0; i++)
        nanosleep(&while_, NULL);
    return fd;
}

void
live_memory_await(struct memory *m)
{
    static const struct timespec while_ = {.tv_nsec = FRAGILE_WAIT_NS};
    const char *path = arena_printf(&m->arena, "/proc/%u/task", m->pid);
    int clear = FRAGILE_CLEAR;

    // A thread that repeats a call runs between two sleeps, so one check may miss the call.
    for (int i = 0; i < FRAGILE_LOOKS; i++) {
        clear = any_fragile(m, path) ? 0 : clear + 1;
        if (clear >= FRAGILE_CLEAR)
            return;
        nanosleep(&while_, NULL);
    }
}

/* Stop thread TID. The kernel may begin to hold it only after it was seized. Then it stays seized,
 * and the kernel releases it when we end. */
static enum stop_result
interrupt(struct memory *m, uint32_t tid, int *ret_status)
{
    if (is_uninterruptible(m, tid))
        return STOP_BLOCKED;
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0 &&
        (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0 ||
         ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0))
        return STOP_FAILED;
    for (;;) {
        static const struct timespec while_ = {.tv_nsec = BLOCKED_WAIT_NS / 20};
        pid_t stopped = waitpid((pid_t)tid, ret_status, __WALL | WNOHANG);

        if (stopped != 0)
            return stopped == (pid_t)tid && WIFSTOPPED(*ret_status) ? STOP_DONE : STOP_FAILED;
        if (is_uninterruptible(m, tid))
            return STOP_BLOCKED;
        nanosleep(&while_, NULL);
    }
}

/* Store the vector registers of the stopped thread T. Old kernels provide only those up to SSE. */
static void
live_memory_read_vectors(struct memory *m, struct memory_thread *t)
{
    static const unsigned types[] = {NT_X86_XSTATE, NT_FPREGSET};
    unsigned char *buffer = xmalloc(VECTORS_MAX);

    for (size_t i = 0; i < countof(types) && t->vector_bytes == 0; i++) {
        struct iovec saved = {buffer, VECTORS_MAX};

        if (ptrace(PTRACE_GETREGSET, t->tid, (void *)(uintptr_t)types[i], &saved) != 0 ||
            !saved_registers_are_vectors(m, types[i], saved.iov_len))
            continue;
        t->vectors = memcpy(arena_alloc(&m->arena, saved.iov_len), buffer, saved.iov_len);
        t->vector_bytes = (uint32_t)saved.iov_len;
    }
    free(buffer);
}

/* Stop thread TID and add it to M with its registers. Return false if that fails. */
static bool
stop_thread(struct memory *m, size_t *capacity, uint32_t tid)
{
    struct user_regs_struct registers;
    struct memory_thread t = {.tid = tid};
    int status = 0;
    enum stop_result r = interrupt(m, tid, &status);

    if (r == STOP_BLOCKED)
        add_thread(m, capacity, thread_in_call(tid, live_memory_line_of(m, tid, "syscall")));
    if (r != STOP_DONE)
        return r == STOP_BLOCKED;
    // A pending signal stopped the thread; it is delivered when the thread resumes. Our own stop is
    // reported as an event.
    if (status >> 16 == 0)
        t.pending = (uint32_t)WSTOPSIG(status);
    if (ptrace(PTRACE_GETREGS, tid, NULL, &registers) == 0) {
        static_assert(sizeof registers <= sizeof t.registers, "there is room");
        memcpy(t.registers, &registers, sizeof registers);
        t.register_count = sizeof registers / sizeof t.registers[0];
        t.pc = t.registers[PC_AT];
        t.sp = t.registers[SP_AT];
        t.pointer = t.registers[POINTER_AT];
        live_memory_read_vectors(m, &t);
        restart_call(m->pid, tid, registers);
    }
    add_thread(m, capacity, t);
    return true;
}

/* Seize the threads listed in PATH, except the first one and those that the kernel holds. */
static void
seize_all(struct memory *m, const char *path)
{
    DIR *d = opendir(path);
    struct dirent *entry;

    while (d != NULL && (entry = readdir(d)) != NULL) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

        if (tid != 0 && tid != m->pid && state_of(m, tid) != 'D')
            ptrace(PTRACE_SEIZE, tid, NULL, NULL);
    }
    if (d != NULL)
        closedir(d);
}

/* Stop thread TID of M, unless it is stopped, as HOW requires. Return true if it was stopped or
 * spared. If it lives and could not be stopped, increment *LEFT. */
static bool
stop_other(struct memory *m, enum live_stop how, size_t *capacity, uint32_t tid, size_t *left)
{
    if (tid == 0 || is_stopped(m, tid))
        return false;
    if ((how == LIVE_STOP_SPARING && spare(m, capacity, tid)) || stop_thread(m, capacity, tid))
        return true;
    *left += !has_ended(m, tid);
    return false;
}

/* Stop the threads of M that are not stopped yet, as HOW requires. Return true if any was stopped
 * or spared. *RET_LEFT is the number of living threads that could not be stopped.
 *
 * Stop the first thread last. While it is traced, the kernel keeps signals that the process
 * ignores, and such a signal ends the call of a running thread with EINTR. */
static bool
stop_others(struct memory *m, enum live_stop how, const char *path, size_t *capacity,
            size_t *ret_left)
{
    DIR *d = opendir(path);
    struct dirent *entry;
    bool more = false;

    *ret_left = 0;
    while (d != NULL && (entry = readdir(d)) != NULL) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

        if (tid != m->pid)
            more |= stop_other(m, how, capacity, tid, ret_left);
    }
    if (d != NULL)
        closedir(d);
    more |= stop_other(m, how, capacity, m->pid, ret_left);
    return more;
}

void
live_memory_renew(struct memory *m)
{
    read_maps(m, NULL);
    if (m->window != NULL)
        memory_watch(m);
}

bool
live_memory_has_ranges(const struct memory *m)
{
    struct memory now = {0};
    bool same = read_ranges(&now, m->thread, "maps") == 0 && now.region_count == m->region_count;

    for (size_t i = 0; same && i < m->region_count; i++)
        same = now.regions[i].start == m->regions[i].start &&
               now.regions[i].end == m->regions[i].end &&
               now.regions[i].access == m->regions[i].access;
    memory_close(&now);
    return same;
}

bool
live_memory_note_copied(struct memory *m)
{
    struct memory copy = {0};
    bool whole = read_ranges(&copy, m->snapshot, "smaps") == 0;

    for (size_t i = 0; whole && i < m->region_count; i++) {
        struct memory_region *r = &m->regions[i];
        const struct memory_region *same = memory_region_at(&copy, r->start);

        // The process may have asked for zeros in children since M's ranges were read.
        if (r->readable_bytes > 0 && same != NULL && same->wiped)
            whole = false;
        if (r->clean && same != NULL && !same->clean) {
            r->clean = false;
            r->readable_bytes = r->end - r->start;
        }
    }
    memory_close(&copy);
    return whole;
}

size_t
live_memory_stop(struct memory *m, enum live_stop how)
{
    const char *path = arena_printf(&m->arena, "/proc/%u/task", m->pid);
    size_t capacity = 0, left = 0;
    int round = 0;

    m->threads = NULL;
    m->thread_count = 0;
    if (how == LIVE_STOP_ALL)
        seize_all(m, path);
    while (round < ROUNDS_MAX && stop_others(m, how, path, &capacity, &left))
        round++;
    // New threads start faster than they can be stopped.
    if (round == ROUNDS_MAX && left == 0)
        left = 1;
    return left;
}

/* Stop thread TID of M if it sleeps in no fragile call. */
static void
stop_sleeping(struct memory *m, size_t *capacity, uint32_t tid)
{
    if (state_of(m, tid) == 'S' && !is_fragile(live_memory_line_of(m, tid, "syscall")))
        stop_thread(m, capacity, tid);
}

bool
live_memory_stop_one(struct memory *m, uint32_t preferred)
{
    DIR *d = opendir(arena_printf(&m->arena, "/proc/%u/task", m->pid));
    struct dirent *entry;
    size_t capacity = 0;

    m->threads = NULL;
    m->thread_count = 0;
    stop_sleeping(m, &capacity, preferred);
    while (d != NULL && m->thread_count == 0 && (entry = readdir(d)) != NULL) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

        // A traced parent gets a SIGCHLD even if it ignores it, see above.
        if (tid != 0 && live_memory_line_of(m, tid, "children")[0] == '\0')
            stop_sleeping(m, &capacity, tid);
    }
    if (d != NULL)
        closedir(d);
    if (m->thread_count == 0 && strchr("RSTt", state_of(m, preferred)) != NULL)
        stop_thread(m, &capacity, preferred);
    return m->thread_count > 0;
}

uint32_t
live_memory_tracer(struct memory *m, const char **ret_name)
{
    DIR *d = opendir(arena_printf(&m->arena, "/proc/%u/task", m->pid));
    struct dirent *entry;
    uint32_t tracer = 0;
    char name[64] = "";
    FILE *f;

    while (d != NULL && tracer == 0 && (entry = readdir(d)) != NULL)
        tracer = (uint32_t)status_number(m, (uint32_t)strtoul(entry->d_name, NULL, 10),
                                         "TracerPid:");
    if (d != NULL)
        closedir(d);
    f = tracer != 0 ? fopen(arena_printf(&m->arena, "/proc/%u/comm", tracer), "re") : NULL;
    if (f != NULL && fgets(name, sizeof name, f) != NULL)
        name[strcspn(name, "\n")] = '\0';
    if (f != NULL)
        fclose(f);
    *ret_name = arena_strdup(&m->arena, name);
    return tracer;
}

void
live_memory_go_on(struct memory *m)
{
    // Release the first thread first: its tracing makes the kernel keep ignored signals. Release
    // threads with interrupted calls last.
    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0; i < m->thread_count; i++) {
            const struct memory_thread *t = &m->threads[i];
            bool was_interrupted = t->registers[RAX_AT] == (uint64_t)-EINTR;

            if (t->asleep_in == NULL && (t->tid == m->pid ? 0 : 1 + was_interrupted) == pass)
                ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(uintptr_t)t->pending);
        }
}
