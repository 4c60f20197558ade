/* launch.c: between `heaptap run` and the program.
 *
 * The program must not notice: it is a child in our process group, with our standard streams, the
 * signal dispositions and mask that we were given, and no descriptor of ours. We ignore what the
 * terminal sends (the program gets it too and decides), pass on what is sent to us alone, and die
 * of the same signal.
 */
#include "cli/launch.h"

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
#include <unistd.h>

static volatile sig_atomic_t child_pid;

static void
pass_on(int signal_number)
{
    int saved_errno = errno;

    if (child_pid > 0)
        kill((pid_t)child_pid, signal_number);
    errno = saved_errno;
}

static bool
is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Why the ELF file at PATH cannot be recorded by preloading, or NULL. Scripts and anything else
 * are left to execve. */
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
    }
    close(fd);
    if (why == NULL && !dynamic)
        why =
            "it is statically linked, so nothing can be preloaded into it";
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
become(const char *path, char **arguments, char **environment, int report_fd)
{
    int error;

    execve(path, arguments, environment);
    error = errno;
    while (write(report_fd, &error, sizeof error) < 0 && errno == EINTR)
        continue;
    _exit(127);
}

int
launch_wait(const char *path, char **arguments, char **environment, pid_t *ret_pid, int *ret_status,
            struct err *err)
{
    // SIGCHLD must not be ignored, or the program's status would be lost to us.
    static const int ours[] = {SIGINT, SIGQUIT, SIGCHLD};
    static const int passed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    struct sigaction saved[countof(ours)];
    struct sigaction pass = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    int report[2], error = 0;
    pid_t pid;

    if (pipe2(report, O_CLOEXEC) < 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot make a pipe");
    for (size_t i = 0; i < countof(ours); i++) {
        struct sigaction change = {.sa_handler = ours[i] == SIGCHLD ? SIG_DFL : SIG_IGN};

        sigaction(ours[i], &change, &saved[i]);
    }
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        for (size_t i = 0; i < countof(ours); i++)
            sigaction(ours[i], &saved[i], NULL);
        become(path, arguments, environment, report[1]);
    }
    close(report[1]);
    if (pid < 0) {
        close(report[0]);
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot make a process");
    }
    child_pid = pid;
    for (size_t i = 0; i < countof(passed_on); i++) {
        struct sigaction old;

        // A signal that we were told to ignore (nohup) stays ignored, as it does in the program.
        if (sigaction(passed_on[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(passed_on[i], &pass, NULL);
    }
    while (read(report[0], &error, sizeof error) < 0 && errno == EINTR)
        continue;
    close(report[0]);
    while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
        continue;
    child_pid = 0;
    *ret_pid = pid;
    errno = error;
    return error ? err_errno(err, HEAPTAP_BAD_INPUT, "cannot execute %s", path) : 0;
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
