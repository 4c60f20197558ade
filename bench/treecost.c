/* treecost.c: run one command for the bench, pinned and limited, and write its cost to a file.
 *
 *     treecost FIGURES CPUS SECONDS MEBIBYTES PROGRAM COMMAND [ARGUMENT...]
 *
 * The cost of a tool includes every process that it needs. Processor time comes from wait4() of the
 * command and of all processes that it left behind: this process adopts orphans
 * (PR_SET_CHILD_SUBREAPER) and waits for them as well. The command is started from this small
 * process, because the peak of resident memory survives exec. The peak of an interpreter is higher
 * than the peak of many programs.
 *
 * Peaks of single processes are read from /proc every 10 ms during their lifetime. This process is
 * not pinned, and its time is not measured. Processes whose executable is called PROGRAM are the
 * "program"; all others are helpers of the tool. These peaks miss the last 10 ms of a process; the
 * processor time and the largest peak of wait4() do not. The limits are checked at the same times.
 * A limit on the address space would be wrong, because some tools reserve more than they use.
 *
 * FIGURES gets lines "name value": wall_ns, cpu_ns, peak_kib (largest process), program_kib,
 * tree_kib (largest sum over processes alive at one moment), helper_cpu_ns (to a clock tick),
 * status (exit status, or 128 + signal), ended ("no", "time" or "memory"). */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD_NS = 10 * 1000 * 1000, MAX_PROCESSES = 4096 };

/* A process found so far. Pids are not reused in the seconds that a run takes. */
struct process {
    pid_t pid;
    int is_program;
    uint64_t cpu_ticks;
};

static struct process seen[MAX_PROCESSES];
static int seen_count;
static const char *program;
static uint64_t program_kib, tree_kib, peak_kib, cpu_ns, system_ns, faults;

static uint64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void
pin(const char *cpus)
{
    cpu_set_t set;
    char *end;

    CPU_ZERO(&set);
    for (const char *s = cpus; *s; s = *end == ',' ? end + 1 : end) {
        unsigned long cpu = strtoul(s, &end, 10);

        if (end == s)
            break;
        CPU_SET(cpu, &set);
    }
    if (sched_setaffinity(0, sizeof set, &set))
        perror("treecost: cannot pin");
}

/* Read /proc/PID/NAME into RET. Return its length; 0 if the process is gone. */
static size_t
read_proc(pid_t pid, const char *name, char *ret, size_t size)
{
    char path[64];
    int fd;
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = read(fd, ret, size - 1);
    close(fd);
    ret[n < 0 ? 0 : n] = 0;
    return n < 0 ? 0 : (size_t)n;
}

/* Return true if PID runs PROGRAM; BEFORE, the last answer, if it has ended. */
static int
runs_program(pid_t pid, int before)
{
    char path[64], target[4096];
    const char *slash;
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    n = readlink(path, target, sizeof target - 1);
    if (n < 0)
        return before;
    target[n] = 0;
    slash = strrchr(target, '/');
    return slash && !strcmp(slash + 1, program);
}

static struct process *
find(pid_t pid)
{
    for (int i = seen_count - 1; i >= 0; i--)
        if (seen[i].pid == pid)
            return &seen[i];
    if (seen_count == MAX_PROCESSES)
        return NULL;
    seen[seen_count] = (struct process){.pid = pid};
    return &seen[seen_count++];
}

static uint64_t
field_kib(const char *text, const char *name)
{
    const char *s = strstr(text, name);

    return s ? strtoull(s + strlen(name), NULL, 10) : 0;
}

/* Read the process PID. Return its peak in KiB; 0 if unknown. */
static uint64_t
look_at(pid_t pid)
{
    char text[8192], *s;
    struct process *p = find(pid);
    unsigned long long user, sys;
    uint64_t peak;

    if (!p || !read_proc(pid, "stat", text, sizeof text))
        return 0;
    s = strrchr(text, ')');
    if (s &&
        sscanf(s + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &sys) == 2)
        p->cpu_ticks = user + sys;
    read_proc(pid, "status", text, sizeof text);
    peak = field_kib(text, "VmHWM:");
    p->is_program = runs_program(pid, p->is_program);
    if (p->is_program && peak > program_kib)
        program_kib = peak;
    return peak;
}

/* Return the sum of the peaks of PID's current descendants. */
static uint64_t
look_below(pid_t pid, int depth)
{
    char name[64], children[8192], *s = children, *end;
    uint64_t sum = 0;

    snprintf(name, sizeof name, "task/%d/children", pid);
    if (depth > 16 || !read_proc(pid, name, children, sizeof children))
        return 0;
    for (pid_t child; (child = (pid_t)strtol(s, &end, 10)) > 0 && end != s; s = end)
        sum += look_at(child) + look_below(child, depth + 1);
    return sum;
}

static uint64_t
ns_of(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

/* Collect ended children. Return 0 when none is left. If CHILD is among them, set *STATUS to its
 * status. */
static int
reap(pid_t child, int flags, int *status)
{
    struct rusage u;
    int raw;
    pid_t pid;

    while ((pid = wait4(-1, &raw, flags, &u)) > 0) {
        cpu_ns += ns_of(u.ru_utime) + ns_of(u.ru_stime);
        system_ns += ns_of(u.ru_stime);
        faults += (uint64_t)(u.ru_minflt + u.ru_majflt);
        if ((uint64_t)u.ru_maxrss > peak_kib)
            peak_kib = (uint64_t)u.ru_maxrss;
        if (pid == child)
            *status = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
    }
    return pid == 0 || errno == EINTR;
}

/* Kill the current descendants of PID. Descendants that start meanwhile remain until the next
 * call. */
static void
end_below(pid_t pid, int depth)
{
    char name[64], children[8192], *s = children, *end;

    snprintf(name, sizeof name, "task/%d/children", pid);
    if (depth > 16 || !read_proc(pid, name, children, sizeof children))
        return;
    for (pid_t child; (child = (pid_t)strtol(s, &end, 10)) > 0 && end != s; s = end) {
        end_below(child, depth + 1);
        kill(child, SIGKILL);
    }
}

/* Wait for the command and all its processes, within the limits. Return the exceeded limit,
 * "memory" or "time", if they were killed; otherwise "no". */
static const char *
watch(pid_t child, uint64_t limit_ns, uint64_t limit_kib, int *status)
{
    const struct timespec period = {.tv_nsec = PERIOD_NS};
    uint64_t began = now_ns();
    const char *ended = "no";
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    while (reap(child, WNOHANG, status)) {
        uint64_t kib = look_below(getpid(), 0);

        if (kib > tree_kib)
            tree_kib = kib;
        if (kib > limit_kib)
            ended = "memory";
        else if (now_ns() - began > limit_ns)
            ended = "time";
        if (strcmp(ended, "no"))
            end_below(getpid(), 0);
        sigtimedwait(&set, NULL, &period);
    }
    return ended;
}

static uint64_t
helper_cpu_ns(void)
{
    uint64_t ticks = 0;

    for (int i = 0; i < seen_count; i++)
        if (!seen[i].is_program)
            ticks += seen[i].cpu_ticks;
    return ticks * 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

static pid_t
start(const char *cpus, char **command)
{
    sigset_t set;
    pid_t child;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    child = fork();
    if (child)
        return child;
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    pin(cpus);
    execvp(command[0], command);
    fprintf(stderr, "treecost: %s: %s\n", command[0], strerror(errno));
    _exit(127);
}

int
main(int argc, char **argv)
{
    uint64_t began = now_ns();
    const char *ended;
    int status = -1;
    pid_t child;
    FILE *f;

    if (argc < 7) {
        fprintf(stderr, "usage: treecost FIGURES CPUS SECONDS MEBIBYTES PROGRAM COMMAND...\n");
        return 2;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    program = argv[5];
    child = start(argv[2], argv + 6);
    if (child < 0) {
        perror("treecost: fork");
        return 2;
    }
    ended = watch(child, strtoull(argv[3], NULL, 10) * 1000000000,
                  strtoull(argv[4], NULL, 10) << 10, &status);
    f = fopen(argv[1], "w");
    if (!f) {
        perror(argv[1]);
        return 2;
    }
    fprintf(f,
            "wall_ns %lu\ncpu_ns %lu\npeak_kib %lu\nprogram_kib %lu\ntree_kib %lu\n"
            "helper_cpu_ns %lu\nsystem_ns %lu\nfaults %lu\nstatus %d\nended %s\n",
            now_ns() - began, cpu_ns, peak_kib, program_kib, tree_kib, helper_cpu_ns(),
            system_ns, faults, status, ended);
    return fclose(f) ? 2 : 0;
}
