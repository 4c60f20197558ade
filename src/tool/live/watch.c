/* watch.c: the thread that reads profiles.
 *
 *     user's thread                          the thread
 *     watch_processes ◄── latest reading ─── find, load, symbolise, digest
 *     watch_ask, _only, _pause ── wishes ──► when to read, and which
 *     reading_release ──── dead readings ──► profile_free
 *
 * One mutex guards everything that both threads see. The thread does not hold it while it reads, so
 * a screen can be drawn at any time. Models of millions of stacks take long to free, so the thread
 * frees them.
 *
 * The rest after a reading is a multiple of its cost and of the number of profiles that are read in
 * turn: whatever their costs are, the sum stays below one twentieth. An ended process is read once
 * more; after that its file is only compared with its former state, because `heaptap run` may add
 * notes. */
#include "live/watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "live/watch_find.h"
#include "load/load.h"
#include "open/open_set.h"
#include "open/pick_stacks.h"
#include "profile/caller_shares.h"
#include "profile/processes.h"
#include "symbol/module_cache.h"
#include "util/ensure.h"

#define NS_PER_S UINT64_C(1000000000)
#define NEVER UINT64_MAX
#define FIND_INTERVAL_NS (2 * NS_PER_S)

enum { REST_FACTOR = 20 };

/* A reading with its owner. The model belongs to its first reading; later readings, with a repeated
 * digest, keep the first. */
struct held {
    struct reading reading; // First member, so that both have the same address.
    struct watch *watch;
    struct profile *model;  // NULL = `first` has the model.
    struct held *first;
    atomic_uint references;
    struct held *next_dead;
};

/* State of a file, to notice that it has changed. */
struct file_state {
    uint64_t device, inode, size_bytes, changed_ns;
};

struct entry {
    uint32_t id, pid;
    uint64_t pid_start; // Start of process `pid`; 0 = unknown.
    char *what, *trouble;
    struct held *latest;
    uint64_t count;       // Number of readings.
    uint64_t allowed_ns;  // The rule permits a reading from then on.
    uint64_t due_ns;      // The next reading; NEVER = there is none.
    bool ended;
    struct file_state file; // State at the latest reading.
    bool repeat;            // Repeat the digest of the latest reading, or of the first to come.
    bool renew;             // Read the file again, even if it has not changed.
};

struct job {
    struct job *next;
    void (*run)(void *arg);
    void *arg;
};

struct watch {
    struct watch_options options;
    struct module_cache cache;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wish;
    int descriptor;
    struct entry *entries;
    size_t count, capacity;
    uint32_t only;
    uint64_t find_due_ns, find_allowed_ns;
    bool stop, pause, busy;
    bool fixed; // One profile: there are no others to find.
    struct job *jobs; // Oldest first.
    struct held *dead;
};

static uint64_t
clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t
watch_rest_ns(uint64_t interval_ns, uint64_t cost_ns, size_t count)
{
    uint64_t turns = REST_FACTOR * (uint64_t)(count > 0 ? count : 1), rest;

    rest = cost_ns > NEVER / 2 / turns ? NEVER / 2 : cost_ns * turns;
    return rest > interval_ns ? rest : interval_ns;
}

/* --- Readings ------------------------------------------------------------------------------------
 */

struct reading *
reading_keep(struct reading *r)
{
    if (r != NULL)
        atomic_fetch_add_explicit(&((struct held *)r)->references, 1, memory_order_relaxed);
    return r;
}

void
reading_release(struct reading *r)
{
    struct held *h = (struct held *)r;
    struct watch *w;

    if (h == NULL || atomic_fetch_sub_explicit(&h->references, 1, memory_order_acq_rel) != 1)
        return;
    w = h->watch;
    pthread_mutex_lock(&w->mutex);
    h->next_dead = w->dead;
    w->dead = h;
    pthread_cond_signal(&w->wish);
    pthread_mutex_unlock(&w->mutex);
}

/* Free the readings that nobody has any more. Freeing one may release another. */
static void
free_dead(struct watch *w)
{
    struct held *h;

    for (;;) {
        pthread_mutex_lock(&w->mutex);
        h = w->dead;
        if (h != NULL)
            w->dead = h->next_dead;
        pthread_mutex_unlock(&w->mutex);
        if (h == NULL)
            return;
        if (h->reading.digest != NULL && w->options.release != NULL)
            w->options.release(h->reading.digest);
        profile_free(h->model);
        if (h->first != NULL)
            reading_release(&h->first->reading);
        free(h);
    }
}

struct moment_change
moment_difference(const struct moment *before, const struct moment *after)
{
    struct moment_change c = {0};
    const struct counters *b = &before->totals, *a = &after->totals;

    if (before->monotonic_ns == 0 || after->monotonic_ns <= before->monotonic_ns)
        return c;
    c.seconds = (double)(after->monotonic_ns - before->monotonic_ns) / (double)NS_PER_S;
    c.amounts.allocations = counters_difference(a->allocations, b->allocations);
    c.amounts.allocated_bytes = counters_difference(a->allocated_bytes, b->allocated_bytes);
    c.amounts.frees = counters_difference(a->frees, b->frees);
    c.amounts.freed_bytes = counters_difference(a->freed_bytes, b->freed_bytes);
    c.live_bytes = profile_amounts_live(&c.amounts);
    c.live_blocks = counters_difference(c.amounts.allocations, c.amounts.frees);
    c.short_lived = counters_difference(counters_within_16(a), counters_within_16(b));
    return c;
}

/* --- The thread ----------------------------------------------------------------------------------
 */

static void
notify(struct watch *w)
{
    uint64_t one = 1;

    while (write(w->descriptor, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

/* Load the profile of WHAT, and name its functions. */
static int
load_one(struct watch *w, const char *what, struct profile **ret, struct err *err)
{
    const struct view_options *view = w->options.view;
    struct symbol_choice symbols = view->symbols;
    int rc = open_one(what, ret, err);

    if (rc != 0)
        return rc;
    runtime_note_add(*ret);
    callers_spread(*ret, false);
    symbols.module_cache = &w->cache;
    symbols.silent = true;
    if (symbolise_quietly(*ret, &symbols) != 0) {
        profile_free(*ret);
        return err_set(err, HEAPTAP_BAD_INPUT, "the symbols of %s cannot be read", what);
    }
    pick_frames(*ret, view, true);
    return 0;
}

static struct file_state
state_of(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return (struct file_state){0};
    return (struct file_state){(uint64_t)st.st_dev, (uint64_t)st.st_ino, (uint64_t)st.st_size,
                               (uint64_t)st.st_mtim.tv_sec * NS_PER_S +
                                   (uint64_t)st.st_mtim.tv_nsec};
}

static struct held *
new_reading(struct watch *w, uint32_t process, const struct held *before, uint64_t number)
{
    struct held *h = xcalloc(1, sizeof *h);

    h->watch = w;
    h->references = 1;
    h->reading.process = process;
    h->reading.number = number;
    if (before != NULL)
        h->reading.before = before->reading.now;
    return h;
}

/* Read WHAT into H. BEFORE is the reading before, or NULL. Returns NULL with ERR set, and frees
 * H. */
static struct held *
read_profile(struct watch *w, const char *what, const struct held *before, struct held *h,
             struct err *err)
{
    uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);

    h->reading.unix_ns = clock_ns(CLOCK_REALTIME);
    if (load_one(w, what, &h->model, err) != 0) {
        free(h);
        return NULL;
    }
    h->reading.p = h->model;
    h->reading.now = (struct moment){begin_ns, h->model->totals};
    if (w->options.digest != NULL)
        h->reading.digest = w->options.digest(w->options.arg, h->model, &h->reading,
                                              before != NULL ? before->reading.digest : NULL);
    h->reading.cost_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
    return h;
}

static size_t
entries_in_turn(const struct watch *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->count; i++)
        n += !w->entries[i].ended && (w->only == 0 || w->only == w->entries[i].id);
    return n;
}

static void
schedule(const struct watch *w, struct entry *e, uint64_t cost_ns)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), interval_ns = w->options.interval_ns;

    e->allowed_ns = now_ns + watch_rest_ns(0, cost_ns, entries_in_turn(w));
    e->due_ns = interval_ns == 0 ? NEVER
                                 : now_ns + watch_rest_ns(interval_ns, cost_ns, entries_in_turn(w));
}

static bool
has_ended(const struct entry *e)
{
    return e->pid != 0 && processes_start(e->pid) != e->pid_start;
}

/* Publish READING, or the failure ERR, of the entry at INDEX. FILE is the file's state before the
 * reading. The mutex is held. */
static void
publish(struct watch *w, size_t index, struct held *reading, const struct file_state *file,
        uint64_t cost_ns, const struct err *err)
{
    struct entry *e = &w->entries[index];

    free(e->trouble);
    e->trouble = reading == NULL ? xmalloc(strlen(err->text) + 1) : NULL;
    if (reading == NULL) {
        strcpy(e->trouble, err->text);
        e->ended = has_ended(e) || e->ended;
    } else {
        const struct profile *p = reading->reading.p;

        e->count++;
        e->ended = p->process.ended;
        if (e->pid == 0 && !e->ended) {
            e->pid = profile_pid_here(p);
            e->pid_start = processes_start(e->pid);
        }
        e->latest = reading;
    }
    e->file = *file;
    schedule(w, e, cost_ns);
    if (e->renew)
        e->due_ns = e->allowed_ns;
}

/* Read the entry at INDEX. The mutex is held, and released meanwhile. */
static void
read_entry(struct watch *w, size_t index)
{
    struct entry *e = &w->entries[index];
    struct file_state file = state_of(e->what);
    struct held *before = e->latest;
    struct held *reading = new_reading(w, e->id, before, e->count + 1);
    char *what = e->what; // Entries may move, their texts do not.
    uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    struct err err = {""};

    if (e->ended && !e->renew && memcmp(&file, &e->file, sizeof file) == 0) {
        schedule(w, e, 0);
        free(reading);
        return;
    }
    // A wish that comes during the reading may come too late for it.
    e->repeat = e->renew = false;
    w->busy = true;
    pthread_mutex_unlock(&w->mutex);
    reading = read_profile(w, what, before, reading, &err);
    pthread_mutex_lock(&w->mutex);
    w->busy = false;
    publish(w, index, reading, &file, clock_ns(CLOCK_MONOTONIC) - begin_ns, &err);
    notify(w);
    if (reading != NULL && before != NULL) {
        pthread_mutex_unlock(&w->mutex);
        reading_release(&before->reading);
        pthread_mutex_lock(&w->mutex);
    }
}

/* Repeat the digest of the entry at INDEX. As read_entry. */
static void
repeat_entry(struct watch *w, size_t index)
{
    struct entry *e = &w->entries[index];
    struct held *before = e->latest, *h;
    struct held *first = before->first != NULL ? before->first : before;

    e->repeat = false;
    h = new_reading(w, e->id, NULL, 0);
    h->reading = before->reading;
    h->reading.number = ++e->count;
    h->reading.repeated = true;
    h->first = first;
    reading_keep(&first->reading);
    w->busy = true;
    pthread_mutex_unlock(&w->mutex);
    h->reading.digest =
        w->options.digest(w->options.arg, first->model, &h->reading, before->reading.digest);
    pthread_mutex_lock(&w->mutex);
    w->busy = false;
    w->entries[index].latest = h;
    notify(w);
    pthread_mutex_unlock(&w->mutex);
    reading_release(&before->reading);
    pthread_mutex_lock(&w->mutex);
}

/* Add FOUND unless it is known. Return true if it is new. The mutex is held. */
static bool
add_found(struct watch *w, const struct found *found)
{
    struct entry *e;

    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->entries[i].what, found->what) == 0)
            return false;
    if (w->count == w->capacity) {
        w->capacity = w->capacity ? 2 * w->capacity : 16;
        w->entries = xrealloc(w->entries, w->capacity * sizeof *w->entries);
    }
    e = &w->entries[w->count++];
    *e = (struct entry){.id = (uint32_t)w->count, .pid = found->pid};
    e->pid_start = e->pid != 0 ? processes_start(e->pid) : 0;
    e->what = xmalloc(strlen(found->what) + 1);
    strcpy(e->what, found->what);
    return true;
}

/* Find the processes, and add the new ones. Returns 0, or a negative heaptap_errc with ERR set. The
 * mutex is held, and released meanwhile. */
static int
find_processes(struct watch *w, struct err *err)
{
    uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), end_ns;
    struct arena arena = {0};
    struct found *found;
    bool any = false;
    size_t count;
    int rc;

    pthread_mutex_unlock(&w->mutex);
    rc = watch_find(w->options.what, &arena, &found, &count, err);
    pthread_mutex_lock(&w->mutex);
    for (size_t i = 0; rc == 0 && i < count; i++)
        any |= add_found(w, &found[i]);
    arena_release(&arena);
    if (any)
        notify(w);
    end_ns = clock_ns(CLOCK_MONOTONIC);
    w->find_allowed_ns = end_ns + watch_rest_ns(0, end_ns - begin_ns, 1);
    w->find_due_ns = w->fixed || w->options.interval_ns == 0
                         ? NEVER
                         : end_ns + watch_rest_ns(FIND_INTERVAL_NS, end_ns - begin_ns, 1);
    return rc;
}

/* Return the index of the entry to read next, and set *RET_NS to the time for that; the number of
 * entries if there is none. The mutex is held. */
static size_t
next_entry(const struct watch *w, uint64_t *ret_ns)
{
    size_t next = w->count;

    *ret_ns = NEVER;
    for (size_t i = 0; i < w->count && !w->pause; i++) {
        const struct entry *e = &w->entries[i];

        if ((w->only == 0 || w->only == e->id) && e->due_ns < *ret_ns) {
            next = i;
            *ret_ns = e->due_ns;
        }
    }
    return next;
}

/* Wait for a wish, at most until UNTIL_NS. The mutex is held. */
static void
wait_until(struct watch *w, uint64_t until_ns)
{
    struct timespec t = {(time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S)};

    if (until_ns == NEVER)
        pthread_cond_wait(&w->wish, &w->mutex);
    else
        pthread_cond_timedwait(&w->wish, &w->mutex, &t);
}

/* Run the first job. The mutex is held, and released meanwhile. */
static void
run_job(struct watch *w)
{
    struct job *job = w->jobs;

    w->jobs = job->next;
    pthread_mutex_unlock(&w->mutex);
    job->run(job->arg);
    free(job);
    pthread_mutex_lock(&w->mutex);
    notify(w);
}

/* Do one thing that is due, or wait. The mutex is held. */
static void
do_next(struct watch *w)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), due_ns;
    uint64_t find_ns = w->pause ? NEVER : w->find_due_ns;
    size_t next = next_entry(w, &due_ns);
    struct err err;

    if (w->dead != NULL) {
        pthread_mutex_unlock(&w->mutex);
        free_dead(w);
        pthread_mutex_lock(&w->mutex);
        return;
    }
    for (size_t i = 0; i < w->count; i++)
        if (w->entries[i].repeat && w->entries[i].latest != NULL) {
            repeat_entry(w, i);
            return;
        }
    if (find_ns <= now_ns)
        find_processes(w, &err);
    else if (due_ns <= now_ns)
        read_entry(w, next);
    else
        wait_until(w, due_ns < find_ns ? due_ns : find_ns);
}

static void *
watch_run(void *arg)
{
    struct watch *w = arg;

    pthread_mutex_lock(&w->mutex);
    while (!w->stop || w->jobs != NULL) {
        if (w->jobs != NULL)
            run_job(w);
        else
            do_next(w);
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

/* Start the thread. Signals are for the thread of the user. */
static void
start_thread(struct watch *w)
{
    sigset_t all, before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&w->thread, NULL, watch_run, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    ENSURE(rc == 0);
}

/* --- For the user's thread -----------------------------------------------------------------------
 */

static void
free_watch(struct watch *w)
{
    for (size_t i = 0; i < w->count; i++) {
        if (w->entries[i].latest != NULL)
            reading_release(&w->entries[i].latest->reading);
        free(w->entries[i].what);
        free(w->entries[i].trouble);
    }
    free_dead(w);
    module_cache_release(&w->cache);
    free(w->entries);
    close(w->descriptor);
    pthread_cond_destroy(&w->wish);
    pthread_mutex_destroy(&w->mutex);
    free(w);
}

struct watch *
watch_new(const struct watch_options *options, struct err *err)
{
    struct watch *w = xcalloc(1, sizeof *w);
    pthread_condattr_t attributes;
    struct stat st;
    int rc;

    w->options = *options;
    w->fixed = options->what != NULL && !(stat(options->what, &st) == 0 && S_ISDIR(st.st_mode));
    pthread_mutex_init(&w->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wish, &attributes);
    pthread_condattr_destroy(&attributes);
    w->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ENSURE(w->descriptor >= 0);
    pthread_mutex_lock(&w->mutex);
    rc = find_processes(w, err);
    pthread_mutex_unlock(&w->mutex);
    if (rc != 0) {
        free_watch(w);
        return NULL;
    }
    start_thread(w);
    return w;
}

void
watch_free(struct watch *w)
{
    pthread_mutex_lock(&w->mutex);
    w->stop = true;
    pthread_cond_signal(&w->wish);
    pthread_mutex_unlock(&w->mutex);
    pthread_join(w->thread, NULL);
    free_watch(w);
}

bool
watch_is_busy(struct watch *w)
{
    bool busy;

    pthread_mutex_lock(&w->mutex);
    busy = w->busy;
    pthread_mutex_unlock(&w->mutex);
    return busy;
}

int
watch_descriptor(const struct watch *w)
{
    return w->descriptor;
}

struct watched *
watch_processes(struct watch *w, struct arena *arena, size_t *ret_count)
{
    struct watched *v;
    uint64_t news;

    if (read(w->descriptor, &news, sizeof news) < 0)
        news = 0;
    pthread_mutex_lock(&w->mutex);
    v = arena_array(arena, w->count, sizeof *v);
    *ret_count = w->count;
    for (size_t i = 0; i < w->count; i++) {
        const struct entry *e = &w->entries[i];

        v[i] = (struct watched){
            .id = e->id,
            .pid = e->pid,
            .what = arena_strdup(arena, e->what),
            .trouble = e->trouble != NULL ? arena_strdup(arena, e->trouble) : NULL,
            .ended = e->ended,
            .latest = e->latest != NULL ? reading_keep(&e->latest->reading) : NULL,
        };
    }
    pthread_mutex_unlock(&w->mutex);
    return v;
}

/* Make all entries due when the rule permits. The mutex is held. */
static void
make_due(struct watch *w)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->entries[i].due_ns > w->entries[i].allowed_ns)
            w->entries[i].due_ns = w->entries[i].allowed_ns;
    if (!w->fixed && w->find_due_ns > w->find_allowed_ns)
        w->find_due_ns = w->find_allowed_ns;
    pthread_cond_signal(&w->wish);
}

void
watch_only(struct watch *w, uint32_t id)
{
    pthread_mutex_lock(&w->mutex);
    w->only = id;
    if (w->options.interval_ns != 0)
        make_due(w);
    pthread_mutex_unlock(&w->mutex);
}

void
watch_pause(struct watch *w, bool pause)
{
    pthread_mutex_lock(&w->mutex);
    w->pause = pause;
    pthread_cond_signal(&w->wish);
    pthread_mutex_unlock(&w->mutex);
}

void
watch_repeat(struct watch *w, uint32_t id)
{
    pthread_mutex_lock(&w->mutex);
    for (size_t i = 0; i < w->count; i++)
        w->entries[i].repeat |= w->entries[i].id == id;
    pthread_cond_signal(&w->wish);
    pthread_mutex_unlock(&w->mutex);
}

void
watch_renew(struct watch *w, uint32_t id)
{
    pthread_mutex_lock(&w->mutex);
    for (size_t i = 0; i < w->count; i++)
        w->entries[i].renew |= w->entries[i].id == id;
    make_due(w);
    pthread_mutex_unlock(&w->mutex);
}

void
watch_do(struct watch *w, void (*job)(void *arg), void *arg)
{
    struct job *new = xcalloc(1, sizeof *new), **last;

    *new = (struct job){.run = job, .arg = arg};
    pthread_mutex_lock(&w->mutex);
    for (last = &w->jobs; *last != NULL; last = &(*last)->next)
        ;
    *last = new;
    pthread_cond_signal(&w->wish);
    pthread_mutex_unlock(&w->mutex);
}
