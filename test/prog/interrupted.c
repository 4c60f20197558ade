/* cflags: -fno-builtin -fno-optimize-sibling-calls */
/* libs: -Lbuild/test/prog -lbump -Wl,-rpath,$ORIGIN -lstdc++ -lpthread -ldl */
/* interrupted.c: make events that test/interrupt/stepper.c interrupts.
 *
 *     interrupted EVENT HANDLER TURNS
 *
 * Makes EVENT TURNS times, each time between two marks, which are signals that only the tracer
 * sees. The tracer sends SIGUSR1 between the marks. Its handler allocates two blocks, frees one,
 * and performs the action HANDLER. With "nested", the handler also sets marks, so that SIGUSR2
 * interrupts it. Blocks have 100 bytes in the events, 20 in the handlers, and 40 in other threads
 * and children.
 *
 * At the end, the program prints its counts: "events N signals M inner I". It is linked with an
 * allocator that handlers may call. */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../interrupt/stepper.h"

typedef void function(void);

void *_Znwm(size_t size_bytes);
void _ZdlPv(void *p);

static const char *handler_kind;
static long events, signals, inner;
static void *volatile kept;
static __thread sigjmp_buf before;
static char directory[PATH_MAX];
static char signal_stack[1 << 16];

static void
mark(int number)
{
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
}

static bool
handler_is(const char *kind)
{
    return strcmp(handler_kind, kind) == 0;
}

__attribute__((noinline)) static void *
other_thread(void *arg)
{
    kept = malloc(40);
    return arg;
}

__attribute__((noinline)) static void
start_thread_and_join(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, other_thread, NULL) != 0)
        _exit(10);
    pthread_join(other, NULL);
}

static void
wait_for(pid_t child)
{
    int status;

    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        _exit(11);
}

// The child returns from the interrupted function, then ends.
static pid_t forked;

__attribute__((noinline)) static void
on_signal(int number)
{
    void *p = malloc(20);

    kept = malloc(20);
    free(p);
    signals++;
    if (handler_is("nested")) {
        mark(MARK_INNER);
        kept = malloc(20);
        mark(MARK_END);
    } else if (handler_is("thread")) {
        start_thread_and_join();
    } else if (handler_is("fork")) {
        forked = fork();
        if (forked != 0)
            wait_for(forked);
        else
            kept = malloc(40);
    } else if (handler_is("jump")) {
        siglongjmp(before, 1);
    }
    (void)number;
}

__attribute__((noinline)) static void
on_inner_signal(int number)
{
    void *p = malloc(20);

    kept = malloc(20);
    free(p);
    inner++;
    (void)number;
}

/* The events, one function each. The code before and after the marks runs without interruption. */

__attribute__((noinline)) static void
event_malloc(void)
{
    mark(MARK_BEGIN);
    kept = malloc(100);
    mark(MARK_END);
}

__attribute__((noinline)) static void
event_free(void)
{
    void *p = malloc(100);

    mark(MARK_BEGIN);
    free(p);
    mark(MARK_END);
}

__attribute__((noinline)) static void
event_realloc(void)
{
    void *p = malloc(50);

    mark(MARK_BEGIN);
    kept = realloc(p, 100);
    mark(MARK_END);
}

__attribute__((noinline)) static void
event_new(void)
{
    mark(MARK_BEGIN);
    kept = _Znwm(100);
    mark(MARK_END);
}

__attribute__((noinline)) static void
event_delete(void)
{
    void *p = _Znwm(100);

    mark(MARK_BEGIN);
    _ZdlPv(p);
    mark(MARK_END);
}

static void *
in_new_thread(void *arg)
{
    if (sigsetjmp(before, 1) == 0)
        event_malloc();
    return arg;
}

static void
event_thread(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, in_new_thread, NULL) != 0)
        _exit(12);
    pthread_join(other, NULL);
}

static void
event_fork(void)
{
    pid_t child = fork();

    if (child == 0) {
        if (sigsetjmp(before, 1) == 0)
            event_malloc();
        kept = malloc(40);
        _exit(kept == NULL);
    }
    wait_for(child);
}

static void
event_dlclose(void)
{
    char path[2 * PATH_MAX];
    void *(*plugin)(void);
    void *handle;

    snprintf(path, sizeof path, "%s/libplugin_one.so", directory);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        _exit(13);
    *(void **)&plugin = dlsym(handle, "plugin");
    free(plugin());
    mark(MARK_BEGIN);
    dlclose(handle);
    mark(MARK_END);
}

static const struct {
    const char *name;
    function *run;
} table[] = {
    {"malloc", event_malloc}, {"free", event_free},     {"realloc", event_realloc},
    {"new", event_new},       {"delete", event_delete}, {"thread", event_thread},
    {"fork", event_fork},     {"dlclose", event_dlclose},
};

static function *
find_event(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].name, name) == 0)
            return table[i].run;
    _exit(2);
}

static void
turn(function *event)
{
    if (sigsetjmp(before, 1) == 0)
        event();
    if (forked == 0 && handler_is("fork") && signals > 0) {
        kept = malloc(40);
        _exit(0);
    }
    forked = -1;
    events++;
    kept = malloc(100);
}

int
main(int argc, char **argv)
{
    struct sigaction first = {.sa_handler = on_signal}, second = {.sa_handler = on_inner_signal};
    char text[100];
    int length;

    if (argc != 4 || readlink("/proc/self/exe", directory, sizeof directory - 1) < 0)
        return 2;
    dirname(directory);
    handler_kind = argv[2];
    forked = -1;
    if (handler_is("stack")) {
        first.sa_flags = SA_ONSTACK;
        sigaltstack(&(stack_t){.ss_sp = signal_stack, .ss_size = sizeof signal_stack}, NULL);
    }
    sigaction(SIGUSR1, &first, NULL);
    sigaction(SIGUSR2, &second, NULL);
    for (long i = 0; i < atol(argv[3]); i++)
        turn(find_event(argv[1]));
    length = snprintf(text, sizeof text, "events %ld signals %ld inner %ld\n", events, signals,
                      inner);
    return write(1, text, (size_t)length) != length;
}
