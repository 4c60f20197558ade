/* periodic.c: snapshots every so many seconds, for `heaptap run --snapshot-every`.
 *
 * The program needs no timer and no thread for that: while run waits for its end, a thread of ours
 * looks through the directories for profiles of the session whose process lives, and leaves a
 * request in each. Nothing waits for an answer. A process that has not taken the last request has
 * not allocated since, so another would say the same; it is not written.
 *
 * All signals are blocked in that thread: what is sent to us is passed on by the other.
 */
#include "cli/periodic.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "profile/control.h"
#include "profile/origin.h"
#include "util/arena.h"

#define NS_PER_S UINT64_C(1000000000)

enum { DIRECTORIES_MAX = 2 };

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool started, stop;
    uint64_t session_id, period_ns;
    const char *directories[DIRECTORIES_MAX];
    struct arena arena;
} periodic = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void
ask(const char *path, const char *name)
{
    struct disk_header h;
    struct control c;
    struct err err;

    if (!origin_header(path, &h) || h.session_id != periodic.session_id ||
        control_open(path, &c, &err) < 0)
        return;
    control_post_snapshot(&c, name, DISK_SNAPSHOT_PERIOD);
    control_close(&c);
}

static void
ask_all(const char *directory, const char *name)
{
    DIR *d = opendir(directory);
    struct arena a = {0};
    struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL)
        if (e->d_name[0] != '.')
            ask(arena_printf(&a, "%s/%s", directory, e->d_name), name);
    if (d != NULL)
        closedir(d);
    arena_release(&a);
}

static struct timespec
add_period(struct timespec t)
{
    uint64_t ns = (uint64_t)t.tv_nsec + periodic.period_ns;

    t.tv_sec += (time_t)(ns / NS_PER_S);
    t.tv_nsec = (long)(ns % NS_PER_S);
    return t;
}

static void *
run(void *arg)
{
    struct timespec due;
    char name[DISK_SNAPSHOT_NAME_BYTES];

    (void)arg;
    clock_gettime(CLOCK_MONOTONIC, &due);
    pthread_mutex_lock(&periodic.lock);
    for (uint64_t turn = 1; !periodic.stop; turn++) {
        due = add_period(due);
        while (!periodic.stop && pthread_cond_timedwait(&periodic.wake, &periodic.lock, &due) == 0)
            continue;
        snprintf(name, sizeof name, "after %.10g s",
                 (double)turn * (double)periodic.period_ns / (double)NS_PER_S);
        for (size_t i = 0; i < DIRECTORIES_MAX && !periodic.stop; i++)
            if (periodic.directories[i] != NULL)
                ask_all(periodic.directories[i], name);
    }
    pthread_mutex_unlock(&periodic.lock);
    return NULL;
}

void
periodic_start(uint64_t id, const char *const *directories, size_t count, uint64_t period_ns)
{
    pthread_condattr_t monotonic;
    sigset_t all, mask;

    for (size_t i = 0; i < count && i < DIRECTORIES_MAX; i++)
        periodic.directories[i] = arena_strdup(&periodic.arena, directories[i]);
    periodic.session_id = id;
    periodic.period_ns = period_ns;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&periodic.wake, &monotonic);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    periodic.started = pthread_create(&periodic.thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void
periodic_stop(void)
{
    if (!periodic.started)
        return;
    pthread_mutex_lock(&periodic.lock);
    periodic.stop = true;
    pthread_cond_signal(&periodic.wake);
    pthread_mutex_unlock(&periodic.lock);
    pthread_join(periodic.thread, NULL);
    periodic.started = false;
    arena_release(&periodic.arena);
}
