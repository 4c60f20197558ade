/* periodic.c: take snapshots at regular intervals, for `heaptap run --snapshot-every`.
 *
 * The program needs no timer and no thread for that. While run waits for its end, it searches the
 * directories for profiles of the session whose process lives, and leaves a request in each. It
 * waits for no answer. A process that has not accepted the last request has not allocated since.
 * Another snapshot of it would equal the last one, so no request is written. */
#include "launch/proc.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "profile/control.h"
#include "profile/origin.h"
#include "util/arena.h"

#define NS_PER_S UINT64_C(1000000000)

static void
periodic_ask(const struct periodic *p, const char *path, const char *name)
{
    struct disk_header h;
    struct control c;
    struct err err;

    if (!origin_header(path, &h) || h.session_id != p->session_id ||
        control_open(path, &c, &err) < 0)
        return;
    control_post_snapshot(&c, name, DISK_SNAPSHOT_PERIOD);
    control_close(&c);
}

static void
ask_all(const struct periodic *p, const char *directory, const char *name)
{
    DIR *d = opendir(directory);
    struct arena a = {0};
    struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            periodic_ask(p, arena_printf(&a, "%s/%s", directory, e->d_name), name);
    if (d != NULL)
        closedir(d);
    arena_release(&a);
}

uint64_t
periodic_poll(struct periodic *p)
{
    char name[DISK_SNAPSHOT_NAME_BYTES];
    struct timespec t;
    uint64_t now_ns;

    clock_gettime(CLOCK_MONOTONIC, &t);
    now_ns = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
    if (p->start_ns == 0)
        p->start_ns = now_ns;
    if (now_ns - p->start_ns >= (p->turns + 1) * p->period_ns) {
        // If run was stopped for some time, request only the snapshot that is due last.
        p->turns = (now_ns - p->start_ns) / p->period_ns;
        snprintf(name, sizeof name, "after %.10g s",
                 (double)p->turns * (double)p->period_ns / (double)NS_PER_S);
        for (size_t i = 0; i < countof(p->directories); i++)
            if (p->directories[i] != NULL)
                ask_all(p, p->directories[i], name);
    }
    return p->start_ns + (p->turns + 1) * p->period_ns - now_ns;
}
