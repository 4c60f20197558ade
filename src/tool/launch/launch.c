/* launch.c: start the program and wait for it.
 *
 * The program must not notice `run`. It is a child in the same process group, with the standard
 * streams, signal dispositions, mask and timers that `run` inherited, and no further descriptor.
 * Signals from the terminal reach the program directly, so `run` ignores them. It forwards signals
 * sent to it, stops when job control stops the program, and dies of the same signal.
 *
 * A signal sent to the whole process group reaches the program twice: from the sender and
 * forwarded. Nothing distinguishes such a signal from one sent to `run` alone. */
#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND UINT64_C(1000000000)
#define SHELL_PATH "/bin/sh"

static volatile sig_atomic_t child_pid, interrupted;

/* Signals that job control stops processes with. After the program's end they stop us as usual. */
static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};
static struct sigaction stops_given[countof(stops)];

static bool
is_stop(int number)
{
    for (size_t i = 0; i < countof(stops); i++)
        if (stops[i] == number)
            return true;
    return false;
}

static bool
is_request_to_end(int number)
{
    return number == SIGINT || number == SIGQUIT || number == SIGTERM || number == SIGHUP;
}

/* Forward a signal that a process sent. A signal from the kernel comes from the terminal and has
 * already reached the program, except for SIGHUP, which the kernel sends only to the session
 * leader. After the program's end, the first request to terminate skips the rest of the work on the
 * profiles; the second ends `run`. */
static void
pass_on(int number, siginfo_t *info, void *context)
{
    int saved_errno = errno;

    (void)context;
    if (info->si_code <= 0 && info->si_pid == getpid())
        ; // From our own abort.
    else if (child_pid > 0 && info->si_code == SI_QUEUE)
        sigqueue((pid_t)child_pid, number, info->si_value);
    else if (child_pid > 0 && (info->si_code <= 0 || (number == SIGHUP && getsid(0) == getpid())))
        kill((pid_t)child_pid, number);
    else if (child_pid == 0 && is_request_to_end(number)) {
        interrupted = 1;
        signal(number, SIG_DFL);
    }
    errno = saved_errno;
}

/* Execute the script at L's path, which has no #! line, by the shell, as execvp and all shells do.
 * Returns only if that fails. */
static void
execute_script(const struct launch *l, char **environment)
{
    struct arena arena = {0};
    size_t count = 0;
    char **arguments;

    while (l->arguments[count] != NULL)
        count++;
    arguments = arena_array(&arena, count + 2, sizeof *arguments);
    memcpy(arguments + 1, l->arguments, (count + 1) * sizeof *arguments);
    arguments[0] = arena_strdup(&arena, SHELL_PATH);
    arguments[1] = arena_strdup(&arena, l->path);
    execve(SHELL_PATH, arguments, environment);
}

static _Noreturn void
become(const struct launch *l, int report_fd)
{
    char **environment = l->environment(l->environment_arg);
    int error;

    execve(l->path, l->arguments, environment);
    error = errno;
    if (error == ENOEXEC)
        execute_script(l, environment);
    while (write(report_fd, &error, sizeof error) < 0 && errno == EINTR)
        continue;
    _exit(127);
}

/* Return true if NUMBER is not forwarded: signals that stop us at once, the child's, and those of
 * our own faults. */
static bool
launch_is_ours(int number)
{
    static const int ours[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGSEGV, SIGBUS,
                               SIGFPE,  SIGILL,  SIGTRAP, SIGSYS,  SIGPIPE};

    for (size_t i = 0; i < countof(ours); i++)
        if (ours[i] == number)
            return true;
    return false;
}

/* Begin to handle signals sent to `run`. Signals that it inherited as ignored are forwarded as
 * well, because the program may handle them. */
static void
listen_for_signals(void)
{
    struct sigaction pass = {.sa_sigaction = pass_on, .sa_flags = SA_RESTART | SA_SIGINFO};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t child;

    for (size_t i = 0; i < countof(stops); i++)
        sigaction(stops[i], NULL, &stops_given[i]);
    for (int number = 1; number <= SIGRTMAX; number++)
        if (!launch_is_ours(number))
            sigaction(number, &pass, NULL); // Fails for the signals that libc reserves.
    sigaction(SIGPIPE, &ignore, NULL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD); // Only wait_a_while waits for this signal.
    sigprocmask(SIG_SETMASK, &child, NULL);
}

/* Stop ourselves after job control has stopped the program, because the shell waits for us. Job
 * control would have stopped us as well if we did not handle the signal. When we are continued,
 * make sure that the program is as well. */
static void
stop_like(pid_t pid, int number)
{
    struct timespec short_time = {.tv_nsec = 20000000};
    struct sigaction pass, stop = {.sa_handler = SIG_DFL};
    siginfo_t info = {0};

    sigaction(number, &stop, &pass);
    raise(number);
    sigaction(number, &pass, NULL);
    // The shell has usually continued the program as well as us. The program may even have been
    // stopped again since.
    nanosleep(&short_time, NULL);
    if (waitid(P_PID, (id_t)pid, &info, WCONTINUED | WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == 0)
        kill(pid, SIGCONT);
}

/* Wait until a child changes state, at most for INTERVAL_NS. SIGCHLD must be blocked. */
static void
wait_a_while(uint64_t interval_ns)
{
    struct timespec interval = {.tv_sec = (time_t)(interval_ns / NS_PER_SECOND),
                                .tv_nsec = (long)(interval_ns % NS_PER_SECOND)};
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigtimedwait(&child, NULL, &interval);
}

/* Wait for the end of the program, polling it meanwhile. Return its wait status. A program stopped
 * by another process is merely slow. */
static int
wait_for(const struct launch *l, pid_t pid)
{
    int status = 0;

    for (;;) {
        pid_t got = waitpid(pid, &status, WUNTRACED | WNOHANG);
        int number = got == pid && WIFSTOPPED(status) ? WSTOPSIG(status) : 0;

        if (got == pid && number == 0)
            return status;
        if (got < 0 && errno != EINTR)
            return 0;
        if (is_stop(number))
            stop_like(pid, number);
        if (got != 0)
            continue;
        wait_a_while(l->look(l->look_arg, pid));
    }
}

/* Timers that we inherited by exec belong to the program, and would not survive the fork. */
struct timers {
    struct itimerval real, virtual, profile;
};

static struct timers
take_timers(void)
{
    const struct itimerval none = {0};
    struct timers t = {0};

    setitimer(ITIMER_REAL, &none, &t.real);
    setitimer(ITIMER_VIRTUAL, &none, &t.virtual);
    setitimer(ITIMER_PROF, &none, &t.profile);
    return t;
}

static void
set_timers(const struct timers *t)
{
    setitimer(ITIMER_REAL, &t->real, NULL);
    setitimer(ITIMER_VIRTUAL, &t->virtual, NULL);
    setitimer(ITIMER_PROF, &t->profile, NULL);
}

int
launch_wait(const struct launch *l, pid_t *ret_pid, int *ret_status, struct err *err)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, given;
    struct timers given_timers;
    int report[2], error = 0;
    sigset_t all, mask;
    pid_t pid;

    if (pipe2(report, O_CLOEXEC) < 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot make a pipe");
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask); // Block signals until they can be forwarded.
    // An ignored SIGCHLD would lose the program's status.
    sigaction(SIGCHLD, &usual, &given);
    fflush(NULL);
    given_timers = take_timers();
    pid = fork();
    if (pid == 0) {
        set_timers(&given_timers);
        sigaction(SIGCHLD, &given, NULL);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        become(l, report[1]);
    }
    child_pid = pid;
    close(report[1]);
    if (pid < 0) {
        sigprocmask(SIG_SETMASK, &mask, NULL);
        close(report[0]);
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot make a process");
    }
    listen_for_signals();
    while (read(report[0], &error, sizeof error) < 0 && errno == EINTR)
        continue;
    close(report[0]);
    *ret_status = wait_for(l, pid);
    child_pid = 0;
    for (size_t i = 0; i < countof(stops); i++)
        sigaction(stops[i], &stops_given[i], NULL);
    *ret_pid = pid;
    errno = error;
    return error ? err_errno(err, HEAPTAP_BAD_INPUT, "cannot execute %s", l->path) : 0;
}

bool
launch_interrupted(void)
{
    return interrupted;
}

_Noreturn void
launch_end_like(int status)
{
    if (WIFSIGNALED(status)) {
        int number = WTERMSIG(status);
        struct rlimit none = {0, 0};
        sigset_t set;

        // The program has already dumped its core, if it had to. Ours would overwrite it.
        setrlimit(RLIMIT_CORE, &none);
        signal(number, SIG_DFL);
        sigemptyset(&set);
        sigaddset(&set, number);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        raise(number);
        exit(128 + number);
    }
    exit(WEXITSTATUS(status));
}
