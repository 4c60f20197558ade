/* cflags: -fno-builtin -O1 */
/* libs: -lpthread */
/* family.c MODE: create processes in every way, with numbers known by construction.
 *
 *     `parent`  100 blocks of 10 bytes, before the child is made
 *     `child`   50 blocks of 20 bytes in the child; then 30 of the parent's are freed
 *     `later`   10 blocks of 30 bytes in the parent, when the child has ended
 *
 * The comment at a mode's function describes the mode's additional events. The exit status is 0 if
 * every process ended as expected. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *blocks[100], *own[50], *more[10];
static const char *self;

#define KEEP __attribute__((noinline, noclone))

KEEP static void
parent(void)
{
    for (int i = 0; i < 100; i++)
        blocks[i] = malloc(10);
}

KEEP static void
child(void)
{
    for (int i = 0; i < 50; i++)
        own[i] = malloc(20);
    for (int i = 0; i < 30; i++)
        free(blocks[i]);
}

KEEP static void
later(void)
{
    for (int i = 0; i < 10; i++)
        more[i] = malloc(30);
}

static int
wait_for(pid_t pid)
{
    int status = -1;

    if (pid <= 0 || waitpid(pid, &status, __WALL) != pid)
        return 100;
    return status;
}

static int
by_fork(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        child();
        _exit(0);
    }
    return wait_for(pid);
}

static volatile int handler_pid;

static void
on_signal(int number)
{
    (void)number;
    handler_pid = fork();
    if (handler_pid == 0) {
        child();
        _exit(0);
    }
}

static int
by_handler(void)
{
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    return wait_for(handler_pid);
}

/* Create the child by a system call, without a library function. */
static int
by_clone(void)
{
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

    if (pid == 0) {
        child();
        _exit(0);
    }
    return wait_for(pid);
}

static int
run_child(void *arg)
{
    (void)arg;
    child();
    return 0;
}

/* The child shares the memory, so its events count as the parent's. */
static int
by_shared_clone(int flags)
{
    static char stack[256 * 1024] __attribute__((aligned(16)));

    return wait_for(clone(run_child, stack + sizeof stack, flags | SIGCHLD, NULL));
}

static int
by_vfork(void)
{
    pid_t pid = vfork();

    if (pid == 0) {
        child();
        _exit(0);
    }
    return wait_for(pid);
}

static int
by_vfork_exec(void)
{
    pid_t pid = vfork();

    if (pid == 0) {
        execl(self, self, "only_child", (char *)NULL);
        _exit(99);
    }
    return wait_for(pid);
}

static int
by_spawn(void)
{
    char *arguments[] = {(char *)self, "only_child", NULL};
    pid_t pid;

    return posix_spawn(&pid, self, NULL, NULL, arguments, environ) ? 100 : wait_for(pid);
}

static int
by_system(void)
{
    char command[4200];

    snprintf(command, sizeof command, "exec '%s' only_child", self);
    return system(command);
}

/* popen allocates its stream in the parent, so the parent has that block as well. */
static int
by_popen(void)
{
    char command[4200];
    FILE *f;

    snprintf(command, sizeof command, "exec '%s' only_child", self);
    f = popen(command, "r");
    return f == NULL ? 100 : pclose(f);
}

/* Replace the image by exec; the process keeps its id. */
static int
by_exec(void)
{
    execl(self, self, "only_child", (char *)NULL);
    return 100;
}

static void *
exec_here(void *arg)
{
    (void)arg;
    by_exec();
    return NULL;
}

static int
by_exec_in_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, exec_here, NULL);
    pthread_join(thread, NULL);
    return 100;
}

/* Let the exec of a child fail, so that it continues as the same process. */
static int
by_failed_exec(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        execl("/dev/null/program", "program", (char *)NULL);
        child();
        _exit(0);
    }
    return wait_for(pid);
}

/* Create a child that never allocates and so leaves no profile. */
static int
by_quiet_fork(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    return wait_for(pid);
}

/* Create three generations: each child runs child() and then forks the next one. */
static int
by_generations(void)
{
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();

        if (pid != 0)
            return wait_for(pid);
        child();
    }
    return 0;
}

/* Allocate at 20000 sites, so that the profile grows many times. */
KEEP static int
grow(int depth, int path)
{
    if (depth == 0)
        return malloc(8) != NULL;
    if (path & 1)
        return grow(depth - 1, path >> 1) + (depth < 0);
    return grow(depth - 1, path >> 1) + (depth < -1);
}

/* Start a daemon with a new session, no descriptors, no directory and no environment. Files that it
 * opens afterwards get the numbers 0 to 2, and must stay empty. */
static int
by_daemon(const char *done)
{
    int fds[2];
    char byte;
    pid_t pid;

    if (pipe(fds) < 0)
        return 100;
    pid = fork();
    if (pid == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        if (chdir("/") != 0)
            _exit(1);
        umask(0);
        clearenv();
        for (int fd = 0; fd < 65535; fd++)
            if (fd != fds[1])
                close(fd);
        for (int fd = 0; fd < 3; fd++)
            open(done, O_RDWR | O_CREAT | O_APPEND, 0600);
        child();
        for (int i = 0; i < 20000; i++)
            grow(15, i);
        _exit(0);
    }
    close(fds[1]);
    if (wait_for(pid) != 0)
        return 101;
    // read() returns when the grandchild, which holds the pipe, has ended.
    return read(fds[0], &byte, 1) == 0 ? 0 : 102;
}

/* Let another process become the parent of the grandchild. */
static int
by_reaper(void)
{
    pid_t pid;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid = fork();
    if (pid == 0) {
        if (fork() == 0) {
            child();
            _exit(0);
        }
        _exit(0);
    }
    return wait_for(pid) || wait(NULL) < 0;
}

/* Remove the child's write access to the profile's directory; it continues unrecorded. */
static int
by_nobody(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        if (geteuid() != 0 || setgid(65534) != 0 || setuid(65534) != 0)
            _exit(77);
        child();
        _exit(0);
    }
    return wait_for(pid);
}

/* Like by_nobody, but the program has opened another file as descriptor 2. */
static int
by_nobody_reused(const char *done)
{
    pid_t pid = fork();

    if (pid == 0) {
        close(2);
        if (open(done, O_RDWR | O_CREAT | O_APPEND, 0600) != 2)
            _exit(98);
        if (geteuid() != 0 || setgid(65534) != 0 || setuid(65534) != 0)
            _exit(77);
        child();
        _exit(0);
    }
    return wait_for(pid);
}

/* Create a child in a new process id namespace, where its id is 1. */
static int
by_namespace(void)
{
    if (unshare(CLONE_NEWPID) != 0)
        return 77 << 8;
    return by_fork();
}

/* Create children in another root, which lacks the directory of the profile. A process that was
 * recorded before the chroot cannot grow its profile; one that starts after it has no profile. */
static int
by_chroot(const char *root)
{
    pid_t pid = fork();

    if (pid == 0) {
        child();
        if (chroot(root) != 0 || chdir("/") != 0)
            _exit(77);
        for (int i = 0; i < 20000; i++)
            grow(15, i);
        if (fork() == 0) {
            child();
            _exit(0);
        }
        _exit(wait(NULL) > 0 ? 0 : 1);
    }
    return wait_for(pid);
}

/* The child runs until the file DONE exists. */
static pid_t
until(const char *done)
{
    int fds[2];
    char byte;
    pid_t pid = pipe(fds) == 0 ? fork() : -1;

    if (pid == 0) {
        setsid();
        child();
        close(fds[0]);
        close(fds[1]);
        while (access(done, F_OK) != 0)
            usleep(20000);
        later();
        _exit(0);
    }
    close(fds[1]);
    return read(fds[0], &byte, 1) == 0 ? pid : -1;
}

static int
by_outliving(const char *done)
{
    return until(done) < 0;
}

static int
by_lingering(const char *done)
{
    return wait_for(until(done));
}

static volatile int stop;

static void *
busy_thread(void *arg)
{
    (void)arg;
    for (int i = 0; !stop; i++)
        free(malloc(64 + (size_t)i % 512 * 16));
    return NULL;
}

static void *
short_thread(void *arg)
{
    return free(malloc(40)), arg;
}

static void *
starting_threads(void *arg)
{
    while (!stop) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, short_thread, NULL) == 0)
            pthread_join(thread, NULL);
    }
    return arg;
}

/* Fork COUNT times while other threads allocate, create threads and grow tables. */
static int
by_threads(int count)
{
    pthread_t threads[3];
    int bad = 0;

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, i == 2 ? starting_threads : busy_thread, NULL);
    for (int i = 0; i < count; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            alarm(60);
            own[0] = malloc(20);
            free(own[0]);
            _exit(0);
        }
        bad += wait_for(pid) != 0;
        grow(15, i);
    }
    stop = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return bad;
}

static int
run(const char *mode, const char *argument)
{
    static const struct {
        const char *name;
        int (*plain)(void);
        int (*with)(const char *);
    } modes[] = {
        {"fork", by_fork, NULL},
        {"handler", by_handler, NULL},
        {"clone", by_clone, NULL},
        {"vfork", by_vfork, NULL},
        {"vfork_exec", by_vfork_exec, NULL},
        {"spawn", by_spawn, NULL},
        {"system", by_system, NULL},
        {"popen", by_popen, NULL},
        {"exec", by_exec, NULL},
        {"exec_thread", by_exec_in_thread, NULL},
        {"failed_exec", by_failed_exec, NULL},
        {"quiet", by_quiet_fork, NULL},
        {"generations", by_generations, NULL},
        {"daemon", NULL, by_daemon},
        {"reaper", by_reaper, NULL},
        {"nobody", by_nobody, NULL},
        {"nobody_reused", NULL, by_nobody_reused},
        {"namespace", by_namespace, NULL},
        {"chroot", NULL, by_chroot},
        {"outlive", NULL, by_outliving},
        {"linger", NULL, by_lingering},
    };

    if (strcmp(mode, "clone_vm") == 0)
        return by_shared_clone(CLONE_VM | CLONE_VFORK);
    if (strcmp(mode, "threads") == 0)
        return by_threads(atoi(argument));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(mode, modes[i].name) == 0)
            return modes[i].plain ? modes[i].plain() : modes[i].with(argument);
    return 120;
}

int
main(int argc, char **argv)
{
    static char path[4096];
    int status;

    if (argc < 2 || readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        return 2;
    self = path;
    if (strcmp(argv[1], "only_child") == 0) {
        child();
        return 0;
    }
    parent();
    status = run(argv[1], argc > 2 ? argv[2] : "");
    later();
    return status == 77 << 8 ? 77 : status != 0;
}
