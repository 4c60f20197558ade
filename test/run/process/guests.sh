#!/usr/bin/env bash
# guests.sh: children that run in their parent's memory (vfork, clone with CLONE_VM) and make the
# first allocation of their process or thread there. If it fails, a program whose child allocates
# before exec has the child's pid in its profile, no profile with --no-children, a profile under
# another name, or wrong counts; or it dies when its profile is truncated.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc

cat >guest.c <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static _Alignas(16) char stack[256 << 10];
__attribute__((noinline)) static void guest_work(void)
{
    for (int i = 0; i < 10; i++)
        free(malloc(100));
    __asm__ volatile("");
}
__attribute__((noinline)) static void owner_work(void)
{
    for (int i = 0; i < 1000; i++)
        free(malloc(10));
    __asm__ volatile("");
}
static int run_guest(void *unused)
{
    guest_work();
    _exit(0);
}
static void on_signal(int number)
{
    guest_work();
}
static int run_exec(void *unused)
{
    guest_work();
    execl("/bin/true", "true", (char *)0);
    _exit(1);
}
static int run_inner(void *unused)
{
    if (vfork() == 0)
        run_guest(NULL);
    wait(NULL);
    _exit(0);
}
static int run_handler(void *unused)
{
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    _exit(0);
}
static void share(int (*run)(void *))
{
    if (vfork() == 0)
        run(NULL);
    wait(NULL);
}
static void clone_vm(int flags)
{
    if (clone(run_guest, stack + sizeof stack, CLONE_VM | SIGCHLD | flags, NULL) < 0)
        perror("clone");
    wait(NULL);
}
/* The child must not return from the function that made the call, so the call is inline. */
static void raw_vfork(void)
{
    long pid;
    __asm__ volatile("syscall" : "=a"(pid) : "a"(SYS_vfork) : "rcx", "r11", "memory");
    if (pid == 0)
        run_guest(NULL);
    wait(NULL);
}
extern char **environ;
static void spawn(void)
{
    char *arguments[] = {"true", NULL};
    pid_t pid;
    posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ);
    wait(NULL);
}
static void fork_first(void)
{
    int status;
    if (fork() != 0) {
        wait(&status);
        _exit(WEXITSTATUS(status));
    }
    share(run_guest);
}
int main(int argc, char **argv)
{
    const char *how = argv[1];
    if (!strcmp(how, "vfork"))
        share(run_guest);
    else if (!strcmp(how, "raw"))
        raw_vfork();
    else if (!strcmp(how, "clone"))
        clone_vm(0);
    else if (!strcmp(how, "clone-vfork"))
        clone_vm(CLONE_VFORK);
    else if (!strcmp(how, "nested"))
        share(run_inner);
    else if (!strcmp(how, "handler"))
        share(run_handler);
    else if (!strcmp(how, "exec"))
        share(run_exec);
    else if (!strcmp(how, "spawn"))
        spawn();
    else if (!strcmp(how, "system"))
        system("exit 0");
    else if (!strcmp(how, "popen"))
        pclose(popen("exit 0", "r"));
    else if (!strcmp(how, "forked"))
        fork_first();
    if (argc > 3 && truncate(argv[3], 0) < 0)
        return 2;
    owner_work();
    dprintf(1, "%d %d %d\n", getpid(), getppid(), access(argv[2], F_OK));
    return 0;
}
END
gcc -O1 -g -fno-builtin -o guest guest.c

# shared FILE HOW OPTIONS...: run ./guest HOW, and compare its profile, FILE, with its output.
shared() {
    local file=$1 how=$2
    shift 2
    rm -rf p.heaptap p.processes
    "$HEAPTAP" run -o p.heaptap "$@" -- ./guest "$how" "$PWD/p.heaptap" >out 2>err
    KNOWN_PREFIX="$how${*:+, $*}: "
    same "${KNOWN_PREFIX}status" 0 $?
    # shellcheck disable=SC2086
    same "${KNOWN_PREFIX}pid and parent" "$(cut -d ' ' -f 1,2 out)" \
        "$("$HEAPTAP" report --json $file | python3 -c 'import json, sys
p = json.load(sys.stdin)["process"]
print(p["pid"], p["parent_pid"])')"
    known "$file" "leaf:owner_work allocations=1000 allocated_bytes=10000 frees=1000" \
        "losses events=0 unknown_frees=0"
}
for how in vfork raw clone clone-vfork nested handler exec; do
    for option in "" --no-children; do
        shared p.heaptap $how $option
        known p.heaptap "leaf:guest_work allocations=10 allocated_bytes=1000 frees=10"
        same "${KNOWN_PREFIX}the profile has its name from the start" 0 "$(cut -d ' ' -f 3 out)"
    done
done
for how in spawn system popen; do
    shared p.heaptap $how --no-children
done
shared p.heaptap forked
known p.heaptap "leaf:guest_work allocations=10 allocated_bytes=1000 frees=10"
"$HEAPTAP" run -o p.heaptap --force --no-children --fail-on leaks -- ./guest vfork p >out 2>err
same "--fail-on leaks has a profile to look at" 0 $?

# The owner's mappings are removed. Only the owner's own SIGBUS handler can save it.
for how in vfork clone; do
    rm -f p.heaptap
    "$HEAPTAP" run -o p.heaptap -- ./guest $how p "$PWD/p.heaptap" >out 2>err
    same "$how: a truncated profile does not end the program" 0 $?
done

# If a guest makes its thread's first event, the thread keeps its row when the guest has ended; and
# a guest never uses the row of a live thread.
cat >rows.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
enum { THREADS = 8, CALLS = 100000 };
static pthread_barrier_t shared, all;
__attribute__((noinline)) static void work(void)
{
    for (int i = 0; i < CALLS; i++)
        free(malloc(10));
    __asm__ volatile("");
}
static void *thread(void *first)
{
    int pid;
    if (first) {
        pid = vfork();
        if (pid == 0) {
            free(malloc(100));
            _exit(0);
        }
        waitpid(pid, NULL, 0);
        pthread_barrier_wait(&shared);
    } else
        free(malloc(200));
    pthread_barrier_wait(&all);
    work();
    return NULL;
}
int main(void)
{
    pthread_t threads[2 * THREADS];
    pthread_barrier_init(&shared, NULL, 2);
    pthread_barrier_init(&all, NULL, 2 * THREADS);
    free(malloc(1000));
    for (int i = 0; i < 2 * THREADS; i++) {
        pthread_create(&threads[i], NULL, thread, (void *)(long)(i % 2));
        if (i % 2)
            pthread_barrier_wait(&shared);
        else
            usleep(2000);
    }
    for (int i = 0; i < 2 * THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
END
gcc -O1 -g -fno-builtin -o rows rows.c -lpthread
"$HEAPTAP" run -o rows.heaptap -- ./rows >out 2>err
same "threads with guests: status" 0 $?
KNOWN_PREFIX="threads with guests: "
known rows.heaptap "leaf:work allocations=1600000 allocated_bytes=16000000 frees=1600000" \
    "leaf:work live_blocks=0" "losses events=0 unknown_frees=0"
finish
