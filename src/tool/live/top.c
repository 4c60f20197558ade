/* top.c: the user's choices, passed to the thread that reads.
 *
 * The thread has its own copy of the choices, and jobs change it (watch_do), so neither thread sees
 * half of a change. Until the thread has made new rows, the old ones are shown. */
#include "live/top.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launch/proc.h"

/* A change of the wishes, to be made by the thread. */
struct change {
    struct top *top;
    enum {
        CHANGE_PROCESS,
        CHANGE_BY,
        CHANGE_FILTER,
        CHANGE_NATIVE,
        CHANGE_MARK,
        CHANGE_RELEASE
    } what;
    uint32_t process;
    enum group_by by;
    char *filter;
    bool native;
    struct reading *reading;
};

static void
make_change(void *arg)
{
    struct change *c = arg;
    struct top_wishes *w = &c->top->wishes;

    switch (c->what) {
    case CHANGE_PROCESS:
        w->process = c->process;
        break;
    case CHANGE_BY:
        w->by = c->by;
        w->types |= c->by == BY_TYPE;
        break;
    case CHANGE_FILTER:
        free((char *)w->filter);
        w->filter = c->filter;
        top_wishes_forget(w); // Amounts with another filter are not comparable.
        break;
    case CHANGE_NATIVE:
        c->top->settings.view->native = c->native;
        top_wishes_forget(w);
        break;
    case CHANGE_MARK:
        top_wishes_mark(w, c->reading);
        break;
    case CHANGE_RELEASE:
        top_wishes_mark(w, NULL);
        free((char *)w->filter);
        break;
    }
    free(c);
}

static void
change(struct top *t, struct change c)
{
    struct change *copy = xmalloc(sizeof *copy);

    *copy = c;
    copy->top = t;
    watch_do(t->watch, make_change, copy);
}

static char *
copy_text(const char *text)
{
    return text != NULL ? strcpy(xmalloc(strlen(text) + 1), text) : NULL;
}

int
top_begin(struct top *t, const struct top_settings *settings, struct err *err)
{
    enum group_by by = top_by(settings->by);

    *t = (struct top){.settings = *settings, .by = by, .native = settings->view->native};
    t->order.sort = settings->sort;
    t->filter = copy_text(settings->view->filter);
    t->wishes = (struct top_wishes){.by = by,
                                    .types = by == BY_TYPE,
                                    .filter = copy_text(settings->view->filter),
                                    .view = settings->view};
    t->watch = watch_new(&(struct watch_options){.what = settings->what,
                                                 .interval_ns = settings->interval_ns,
                                                 .view = settings->view,
                                                 .digest = top_digest_make,
                                                 .release = top_digest_free,
                                                 .arg = &t->wishes},
                         err);
    if (t->watch == NULL) {
        free(t->filter);
        free((char *)t->wishes.filter);
        return HEAPTAP_BAD_INPUT;
    }
    return 0;
}

bool
top_is_single(const char *what)
{
    struct stat st;

    return what != NULL && !(stat(what, &st) == 0 && S_ISDIR(st.st_mode));
}

static void
release_processes(struct top *t)
{
    for (size_t i = 0; i < t->count; i++)
        reading_release(t->processes[i].latest);
    t->count = 0;
    arena_release(&t->arena);
}

bool
top_end(struct top *t)
{
    if (watch_is_busy(t->watch))
        return false;
    release_processes(t);
    change(t, (struct change){.what = CHANGE_RELEASE});
    watch_free(t->watch);
    free(t->filter);
    return true;
}

void
top_refresh(struct top *t)
{
    struct top old = *t;

    // The new list may have the same readings, so keep the old one until then.
    t->arena = (struct arena){0};
    t->processes = watch_processes(t->watch, &t->arena, &t->count);
    release_processes(&old);
}

const struct watched *
top_opened(const struct top *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->processes[i].id == t->opened)
            return &t->processes[i];
    return NULL;
}

const char *
top_failure(const struct top *t)
{
    return t->count == 1 && top_is_single(t->settings.what) && t->processes[0].latest == NULL
               ? t->processes[0].trouble
               : NULL;
}

void
top_show(const struct top *t, struct top_shown *ret)
{
    const struct watched *w = top_opened(t);

    *ret = (struct top_shown){.process = *w, .order = t->order, .filter = t->filter};
    if (w->latest != NULL)
        ret->digest = w->latest->digest;
    if (w->pid != 0 && !w->ended)
        ret->resident_bytes = proc_resident_bytes((pid_t)w->pid);
}

void
top_open(struct top *t, uint32_t id)
{
    t->opened = id;
    change(t, (struct change){.what = CHANGE_PROCESS, .process = id});
    watch_only(t->watch, id);
    if (id != 0)
        watch_repeat(t->watch, id);
}

void
top_set_by(struct top *t, enum group_by by)
{
    const struct watched *w = top_opened(t);

    t->by = by;
    change(t, (struct change){.what = CHANGE_BY, .by = by});
    // Types are found when a profile is read.
    if (by == BY_TYPE && w != NULL && w->latest != NULL && !w->latest->p->typed)
        watch_renew(t->watch, t->opened);
    else
        watch_repeat(t->watch, t->opened);
}

void
top_set_filter(struct top *t, const char *filter)
{
    free(t->filter);
    t->filter = copy_text(filter);
    change(t, (struct change){.what = CHANGE_FILTER, .filter = copy_text(filter)});
    watch_repeat(t->watch, t->opened);
}

void
top_set_native(struct top *t, bool native)
{
    t->native = native;
    change(t, (struct change){.what = CHANGE_NATIVE, .native = native});
    watch_renew(t->watch, t->opened);
}

void
top_mark_now(struct top *t)
{
    const struct watched *w = top_opened(t);

    if (w == NULL || w->latest == NULL)
        return;
    change(t, (struct change){.what = CHANGE_MARK, .reading = reading_keep(w->latest)});
    watch_repeat(t->watch, t->opened);
}
