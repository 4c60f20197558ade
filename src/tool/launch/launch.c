/* launch.c: between `heaptap run` and the program.
 *
 * The program must not notice: it is a child in our process group, with our standard streams, the
 * signal dispositions and mask that we were given, and no descriptor of ours. We leave alone what
 * the terminal sends (the program gets it too and decides), pass on what is sent to us, stop when
 * job control stops the program, and die of the same signal.
 *
 * A signal that a process sends to our whole process group reaches the program twice: from the
 * sender and from us. Nothing tells such a signal from one for us alone.
 */
#include "launch/launch.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch/linked_note.h"

#define NS_PER_SECOND UINT64_C(1000000000)

static volatile sig_atomic_t child_pid, interrupted;

static bool
is_request_to_end(int number)
{
    return number == SIGINT || number == SIGQUIT || number == SIGTERM || number == SIGHUP;
}

/* Pass on what a process sent to us. What the kernel sends comes from the terminal, and the program
 * has got it too; but only the leader of the session is told that the terminal is gone. Once the
 * program has ended, the first request to end leaves the profiles as they are, and the second ends
 * us. */
static void
pass_on(int number, siginfo_t *info, void *context)
{
    int saved_errno = errno;

    (void)context;
    if (info->si_code <= 0 && info->si_pid == getpid())
        ; // Our own abort.
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

static bool
is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Is the dynamic linker that SEGMENT of the ELF file FD names that of musl? */
static bool
is_musl(int fd, const Elf64_Phdr *segment)
{
    char path[64] = "";
    size_t length = segment->p_filesz < sizeof path ? segment->p_filesz : sizeof path - 1;

    return pread(fd, path, length, (off_t)segment->p_offset) > 0 && strstr(path, "/ld-musl-");
}

/* Why the ELF file at PATH cannot be recorded, or NULL: by preloading, or because a recorder is
 * linked into it. Scripts and anything else are left to execve. */
static const char *
cannot_preload(const char *path)
{
    union {
        unsigned char ident[EI_NIDENT];
        Elf64_Ehdr header;
    } u = {{0}};
    Elf64_Phdr segment;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const char *why = NULL;
    bool dynamic = false;

    if (fd < 0)
        return NULL;
    if (pread(fd, &u, sizeof u, 0) < EI_NIDENT || memcmp(u.ident, ELFMAG, SELFMAG) != 0)
        dynamic = true;
    else if (u.ident[EI_CLASS] != ELFCLASS64 || u.header.e_machine != EM_X86_64)
        why = "it is built for another architecture than this heaptap";
    for (int i = 0; why == NULL && !dynamic && i < u.header.e_phnum; i++) {
        off_t off = (off_t)(u.header.e_phoff + (uint64_t)i * u.header.e_phentsize);

        if (pread(fd, &segment, sizeof segment, off) != sizeof segment)
            break;
        dynamic = segment.p_type == PT_INTERP;
        if (dynamic && is_musl(fd, &segment))
            why = "its C library is musl, and libheaptap.so needs glibc; link it statically with "
                  "musl/libheaptap_static.a";
    }
    if (why == NULL && !dynamic && !linked_note_in(fd, &u.header))
        why = "it is statically linked, so nothing can be preloaded into it; link it with "
              "libheaptap_static.a";
    close(fd);
    return why;
}

int
launch_find(const char *program, struct arena *arena, const char **ret_path, struct err *err)
{
    const char *set = getenv("PATH");
    const char *path = set ? set : "/usr/local/bin:/usr/bin:/bin";
    const char *why;

    *ret_path = NULL;
    if (strchr(program, '/') != NULL)
        *ret_path = access(program, F_OK) == 0 ? program : NULL;
    while (*ret_path == NULL && strchr(program, '/') == NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        const char *dir = length ? arena_strndup(arena, path, length) : ".";
        const char *candidate = arena_printf(arena, "%s/%s", dir, program);

        if (is_program(candidate))
            *ret_path = candidate;
        path += length + (path[length] == ':');
    }
    if (*ret_path == NULL)
        return err_set(err, HEAPTAP_NOT_FOUND, "no such program: %s", program);
    if (!is_program(*ret_path))
        return err_set(err, HEAPTAP_BAD_INPUT, "%s cannot be executed", *ret_path);
    why = cannot_preload(*ret_path);
    return why ? err_set(err, HEAPTAP_BAD_INPUT, "%s cannot be recorded: %s", *ret_path, why) : 0;
}

int
launch_library(struct arena *arena, const char **ret_path, struct err *err)
{
    static const char *const places[] = {"libheaptap.so", "../lib/heaptap/libheaptap.so"};
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    self[length > 0 ? length : 0] = '\0';
    slash = strrchr(self, '/');
    if (slash == NULL)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "cannot tell where heaptap is installed (/proc/self/exe is unreadable)");
    *slash = '\0';
    for (size_t i = 0; i < countof(places); i++) {
        *ret_path = arena_printf(arena, "%s/%s", self, places[i]);
        if (access(*ret_path, R_OK) == 0)
            return 0;
    }
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "libheaptap.so is neither in %s nor in %s/../lib/heaptap; run `make` or "
                   "`make install`",
                   self, self);
}

static _Noreturn void
become(const struct launch *l, int report_fd)
{
    int error;

    execve(l->path, l->arguments, l->environment(l->environment_arg));
    error = errno;
    while (write(report_fd, &error, sizeof error) < 0 && errno == EINTR)
        continue;
    _exit(127);
}

/* Signals that are ours: to stop at once, to learn of the child, and those that our own faults
 * raise. All others are the program's. */
static bool
is_ours(int number)
{
    static const int ours[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGSEGV, SIGBUS,
                               SIGFPE,  SIGILL,  SIGTRAP, SIGSYS,  SIGPIPE};

    for (size_t i = 0; i < countof(ours); i++)
        if (ours[i] == number)
            return true;
    return false;
}

/* Handle what is sent to us from now on. A signal that we were told to ignore is passed on too:
 * what becomes of it is the program's decision. */
static void
listen_for_signals(void)
{
    struct sigaction pass = {.sa_sigaction = pass_on, .sa_flags = SA_RESTART | SA_SIGINFO};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t child;

    for (int number = 1; number <= SIGRTMAX; number++)
        if (!is_ours(number))
            sigaction(number, &pass, NULL); // Fails for those that libc keeps for itself.
    sigaction(SIGPIPE, &ignore, NULL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD); // wait_a_while waits for it; nobody else has a use for it.
    sigprocmask(SIG_SETMASK, &child, NULL);
}

/* The program has been stopped by job control, which stopped us too had we not been looking: the
 * shell waits for us, so stop as it did, and when we are continued see that it is. */
static void
stop_like(pid_t pid, int number)
{
    struct timespec short_time = {.tv_nsec = 20000000};
    struct sigaction pass, stop = {.sa_handler = SIG_DFL};
    siginfo_t info = {0};

    sigaction(number, &stop, &pass);
    raise(number);
    sigaction(number, &pass, NULL);
    // As a rule the shell has continued both.
    nanosleep(&short_time, NULL);
    if (waitid(P_PID, (id_t)pid, &info, WCONTINUED | WNOHANG) == 0 && info.si_pid == 0)
        kill(pid, SIGCONT);
}

/* Wait until something has become of a child, for INTERVAL_NS at most. SIGCHLD is blocked. */
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

/* Wait for the end of the program, and look at it now and then. One that somebody else stops is
 * just slow. */
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
        if (number == SIGTSTP || number == SIGTTIN || number == SIGTTOU)
            stop_like(pid, number);
        if (got != 0)
            continue;
        wait_a_while(l->look(l->look_arg, pid));
    }
}

/* What we open must not become a standard stream that the program was started without. */
static void
fill_standard_streams(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
}

int
launch_wait(const struct launch *l, pid_t *ret_pid, int *ret_status, struct err *err)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, given;
    int report[2], error = 0;
    sigset_t all, mask;
    pid_t pid;

    if (pipe2(report, O_CLOEXEC) < 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot make a pipe");
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask); // Until we can pass on what comes.
    // SIGCHLD must not be ignored, or the program's status would be lost to us.
    sigaction(SIGCHLD, &usual, &given);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
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
    fill_standard_streams();
    listen_for_signals();
    while (read(report[0], &error, sizeof error) < 0 && errno == EINTR)
        continue;
    close(report[0]);
    *ret_status = wait_for(l, pid);
    child_pid = 0;
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

        // The program has dumped its core if it was to; ours would only overwrite it.
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
