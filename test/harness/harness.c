/* harness.c: the recorder under a sanitizer, driven by threads at random.
 *
 *     harness --seed N --threads N --waves N --events N --mode glibc|call|none --plugins DIR
 *
 * No sanitizer sees a preloaded recorder. This program is therefore compiled with the recorder's
 * sources: objcopy gives the intercepted functions the prefix tap_, and harness_heap.c is the real
 * allocator. Threads allocate and free by every function, at known stacks. They also pass blocks to
 * other threads, free blocks behind the recorder's back, free unknown pointers, and fail to
 * allocate. Threads run in waves; each wave reuses the thread ids of the wave before.
 * Thread 0 loads and unloads a library all the while. After every wave, a forked child does the
 * same with a separate profile, and harness_valid.c checks that the recorder's structures agree
 * with one another. At the end, and in each child, harness_check.c compares every count.
 *
 * If this fails with "expected", the recorder counts wrongly; if with a sanitizer's report, its
 * behaviour is undefined. The same seed repeats the actions of each thread, but not their order in
 * time.
 *
 * Signal handlers, foreign stacks, longjmp and real allocators are not covered here, but by the
 * scripts of test/run, which use no sanitizer. */
#include "account/account_state.h"
#include "harness.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomics.h"
#include "entry/entry.h"
#include "platform/state.h"
#include "util/ensure.h"

enum { OWN_BLOCKS = 512, SHARED_BLOCKS = 256, THREADS_MAX = 32, CHILD_EVENTS = 3000 };

enum how { HOW_PLAIN, HOW_NEW, HOW_NEW_ALIGNED, HOW_FOREIGN };

struct block {
    void *p;
    uint32_t path;
    uint32_t size_bytes;
    enum how how;
    bool inherited; // The block was allocated before the fork.
};

struct worker {
    uint32_t index, wave;
    uint64_t random;
    struct block own[OWN_BLOCKS];
    struct expected expected;
    plugin_fn *plugin;
};

/* Argument of the action that a worker performs at the end of a path. */
struct deed {
    struct worker *w;
    struct block *b;
    uint32_t path, size_bytes;
};

static struct {
    uint64_t seed;
    uint32_t threads, waves, events;
    const char *plugins;
} options = {1, 4, 3, 20000, NULL};

static struct worker workers[THREADS_MAX];
// Blocks that threads pass to each other; accessed atomically.
static struct block *shared[SHARED_BLOCKS];
static bool in_child;

static uint32_t
harness_pick(struct worker *w, uint32_t bound)
{
    w->random = w->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(w->random >> 33) % bound;
}

/* Return a random size, mostly small. All size classes occur, and sometimes a size whose allocation
 * fails. */
static uint32_t
pick_size(struct worker *w)
{
    static const uint32_t bounds[] = {33, 33, 257, 257, 1100, 2100, HEAP_SIZE_MAX + 100};

    return harness_pick(w, bounds[harness_pick(w, countof(bounds))]);
}

/* --- The expected counts --------------------------------------------------------------------- */

static void
live_changes(struct worker *w, int64_t by)
{
    struct expected *e = &w->expected;

    e->live_bytes += by;
    if (e->live_bytes > e->peak_bytes)
        e->peak_bytes = e->live_bytes;
}

static void
expect_free(struct worker *w, uint32_t path, uint32_t size_bytes)
{
    w->expected.path[path].frees++;
    w->expected.path[path].freed_bytes += size_bytes;
}

/* If the heap has just reused the address of a block that was freed behind the recorder's back,
 * count that block as overwritten. Return its bytes, 0 if there was none. */
static uint32_t
expect_overwritten(struct worker *w)
{
    struct heap_note lost;

    if (!heap_take_lost(&lost) || in_child)
        return 0;
    w->expected.overwritten_blocks++;
    expect_free(w, lost.path_and_lost >> 1, lost.size_bytes);
    return lost.size_bytes;
}

/* Record in B that P was allocated for it, NULL if the allocation failed. */
static void
expect_alloc(struct worker *w, struct block *b, void *p)
{
    b->p = p;
    b->inherited = false;
    if (p == NULL) {
        w->expected.failed_calls++;
        return;
    }
    w->expected.path[b->path].allocations++;
    w->expected.path[b->path].allocated_bytes += b->size_bytes;
    live_changes(w, (int64_t)b->size_bytes - expect_overwritten(w));
}

/* --- Actions at the end of a path ------------------------------------------------------------- */

static void *
allocate_plainly(struct worker *w, uint32_t size_bytes)
{
    void *p;

    switch (harness_pick(w, 7)) {
    case 0:
        return tap_calloc(1, size_bytes);
    case 1:
        return tap_realloc(NULL, size_bytes);
    case 2:
        return tap_aligned_alloc(16, size_bytes);
    case 3:
        return tap_posix_memalign(&p, 16, size_bytes) == 0 ? p : NULL;
    case 4:
        return tap_reallocarray(NULL, 1, size_bytes);
    default:
        return tap_malloc(size_bytes);
    }
}

/* operator new with an alignment calls malloc and returns an address inside of that block. The
 * recorder does not record malloc's block, so it still considers a lost block at malloc's address
 * live. Therefore the note of the lost block is put back. */
static void *
allocate_aligned(struct block *b)
{
    unsigned char *p = tap__ZnwmSt11align_val_t(b->size_bytes, 64, 0);
    struct heap_note lost;

    if (p != NULL && heap_take_lost(&lost))
        *heap_note(p - 32) = lost;
    return p;
}

static void
deed_alloc(void *argument)
{
    struct deed *d = argument;
    struct worker *w = d->w;
    struct block *b = d->b;
    uint32_t which = harness_pick(w, 8);

    *b = (struct block){NULL, d->path, d->size_bytes, HOW_PLAIN, false};
    if (which == 0)
        b->how = HOW_NEW;
    else if (which == 1)
        b->how = HOW_NEW_ALIGNED;
    if (b->how == HOW_NEW)
        expect_alloc(w, b, tap__Znwm(b->size_bytes, 0, 0));
    else if (b->how == HOW_NEW_ALIGNED)
        expect_alloc(w, b, allocate_aligned(b));
    else
        expect_alloc(w, b, allocate_plainly(w, b->size_bytes));
}

static void
expect_inner_free(struct worker *w, const struct block *b)
{
    struct heap_note *inner = heap_note(b->p - 32);

    if (!(inner->path_and_lost & 1) || in_child)
        return;
    expect_free(w, inner->path_and_lost >> 1, inner->size_bytes);
    live_changes(w, -(int64_t)inner->size_bytes);
    inner->path_and_lost = 0;
}

static void
deed_free(void *argument)
{
    struct deed *d = argument;
    struct worker *w = d->w;
    struct block *b = d->b;

    if (b->inherited || (in_child && b->how == HOW_FOREIGN)) {
        w->expected.inherited_frees++;
    } else if (b->how == HOW_FOREIGN) {
        w->expected.unknown_frees++;
    } else {
        expect_free(w, b->path, b->size_bytes);
        live_changes(w, -(int64_t)b->size_bytes);
    }
    if (b->how == HOW_NEW_ALIGNED)
        expect_inner_free(w, b);
    if (b->how == HOW_NEW)
        tap__ZdlPv(b->p, 0, 0);
    else if (b->how == HOW_NEW_ALIGNED)
        tap__ZdlPvSt11align_val_t(b->p, 64, 0);
    else if (harness_pick(w, 4) == 0)
        tap_free_sized(b->p, b->size_bytes);
    else
        tap_free(b->p);
    b->p = NULL;
}

static void
deed_realloc(void *argument)
{
    struct deed *d = argument;
    struct worker *w = d->w;
    struct block *b = d->b;
    void *p = harness_pick(w, 2) ? tap_realloc(b->p, d->size_bytes)
                                 : tap_reallocarray(b->p, 1, d->size_bytes);
    int64_t change = 0;

    if (b->inherited)
        w->expected.inherited_frees++;
    if (p == NULL && d->size_bytes != 0) {
        w->expected.failed_calls++;
        return;
    }
    if (!b->inherited) {
        expect_free(w, b->path, b->size_bytes);
        change = -(int64_t)b->size_bytes;
    }
    *b = (struct block){p, d->path, d->size_bytes, HOW_PLAIN, false};
    if (p != NULL) {
        w->expected.path[b->path].allocations++;
        w->expected.path[b->path].allocated_bytes += b->size_bytes;
        change += (int64_t)b->size_bytes - expect_overwritten(w);
    }
    live_changes(w, change);
}

/* --- Actions that need no path ---------------------------------------------------------------- */

/* Free B's block without the recorder's knowledge. */
static void
lose(struct block *b)
{
    *heap_note(b->p) = (struct heap_note){b->path << 1 | 1, b->size_bytes};
    heap_release(b->p);
    b->p = NULL;
}

/* Allocate a block for B without the recorder's knowledge. If a lost block had the same address,
 * the recorder considers that block live. */
static void
take_foreign(struct worker *w, struct block *b)
{
    struct heap_note lost;

    *b = (struct block){real.malloc(harness_pick(w, 1000)), 0, 0, HOW_FOREIGN, false};
    if (heap_take_lost(&lost) && !in_child)
        *b = (struct block){b->p, lost.path_and_lost >> 1, lost.size_bytes, HOW_PLAIN, false};
}

static void
hand_over(struct worker *w, struct block *b)
{
    struct block **place = &shared[harness_pick(w, SHARED_BLOCKS)];
    struct block *mine = malloc(sizeof *mine);
    struct block *theirs;

    *mine = *b;
    theirs = __atomic_exchange_n(place, mine, __ATOMIC_ACQ_REL);
    *b = theirs != NULL ? *theirs : (struct block){.p = NULL};
    free(theirs);
}

/* --- Threads --------------------------------------------------------------------------------- */

static void
one_event(struct worker *w)
{
    struct block *b = &w->own[harness_pick(w, OWN_BLOCKS)];
    uint32_t bound = w->plugin != NULL ? PATHS : PATHS - PLUGIN_PATHS;
    struct deed d = {w, b, harness_pick(w, bound), pick_size(w)};
    void (*deed)(void *) = deed_free;
    uint32_t which = harness_pick(w, 64);

    if (b->p == NULL && which == 0) {
        take_foreign(w, b);
        return;
    }
    if (b->p != NULL && which == 1) {
        hand_over(w, b);
        return;
    }
    if (b->p != NULL && which == 2 && b->how == HOW_PLAIN && !b->inherited && !in_child) {
        lose(b);
        return;
    }
    if (b->p == NULL)
        deed = deed_alloc;
    else if (which < 16 && b->how == HOW_PLAIN)
        deed = deed_realloc;
    path_walk(&paths[d.path], harness_pick(w, UINT32_MAX), w->plugin, deed, &d);
}

/* Load or unload the library. The sanitizer reports any later read of its memory. */
static void
plugin_changes(struct worker *w, void **handle)
{
    char path[4096];

    if (*handle != NULL) {
        tap_dlclose(*handle);
        *handle = NULL;
        w->plugin = NULL;
        return;
    }
    snprintf(path, sizeof path, "%s/libharness_plugin.so", options.plugins);
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        abort();
    }
    w->plugin = (plugin_fn *)dlsym(*handle, "plugin");
}

static void
run_events(struct worker *w, uint32_t events, bool with_plugin)
{
    void *handle = NULL;

    for (uint32_t i = 0; i < events; i++) {
        if (with_plugin && i % 256 == 0)
            plugin_changes(w, &handle);
        one_event(w);
    }
    if (handle != NULL)
        plugin_changes(w, &handle);
}

static void *
thread_main(void *argument)
{
    struct worker *w = argument;
    char name[16];

    snprintf(name, sizeof name, "worker-%u", w->index % 3);
    prctl(PR_SET_NAME, name);
    id_enter();
    heap_enter();
    w->random = options.seed + w->wave * 1000 + w->index;
    run_events(w, options.events, w->index == 0 && options.plugins != NULL);
    heap_leave();
    id_leave();
    return NULL;
}

/* Record one event, so that recording has begun before there are threads, as in any program. */
static void
first_event(void)
{
    id_enter();
    heap_enter();
    tap_free(tap_malloc(HEAP_SIZE_MAX + 1));
    heap_leave();
    id_leave();
}

static void
run_wave(uint32_t wave)
{
    pthread_t threads[THREADS_MAX];

    for (uint32_t i = 0; i < options.threads; i++) {
        workers[i].index = i;
        workers[i].wave = wave;
        if (pthread_create(&threads[i], NULL, thread_main, &workers[i]) != 0) {
            perror("pthread_create");
            exit(2);
        }
    }
    for (uint32_t i = 0; i < options.threads; i++)
        pthread_join(threads[i], NULL);
}

/* Check the recorder's structures. All threads must be idle. */
static void
check_structures(void)
{
    ENSURE_VALID(ledger_is_valid());
    ENSURE_VALID(nodes_are_valid());
    ENSURE_VALID(peak_is_valid());
}

/* The child allocates and frees new blocks and blocks inherited from its parent. */
static int
child_main(void)
{
    struct worker *w = &workers[0];

    in_child = true;
    memset(&w->expected, 0, sizeof w->expected);
    for (uint32_t i = 0; i < OWN_BLOCKS; i++)
        w->own[i].inherited = w->own[i].p != NULL;
    for (uint32_t i = 0; i < SHARED_BLOCKS; i++)
        if (shared[i] != NULL)
            shared[i]->inherited = true;
    id_enter();
    heap_enter();
    run_events(w, CHILD_EVENTS, false);
    check_structures();
    return check_profile(account_state()->path, &w->expected, false) == 0 ? 0 : 1;
}

static int
run_child(void)
{
    int status;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        int result = child_main();

        fflush(stdout);
        _exit(result);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        perror("fork");
        return 1;
    }
    if (status != 0)
        printf("a child ended with status %#x\n", (unsigned)status);
    return status != 0;
}

static enum heap_mode
read_options(int argc, char **argv)
{
    enum heap_mode mode = HEAP_GLIBC;

    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];

        if (strcmp(argv[i], "--seed") == 0)
            options.seed = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--threads") == 0)
            options.threads = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--waves") == 0)
            options.waves = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--events") == 0)
            options.events = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--plugins") == 0)
            options.plugins = value;
        else if (strcmp(argv[i], "--mode") == 0)
            mode = *value == 'g' ? HEAP_GLIBC : *value == 'c' ? HEAP_CALL : HEAP_NONE;
    }
    if (options.threads == 0 || options.threads > THREADS_MAX) {
        fprintf(stderr, "harness: --threads takes 1 to %d\n", THREADS_MAX);
        exit(2);
    }
    return mode;
}

int
main(int argc, char **argv)
{
    struct expected all = {0};
    int bad = 0;

    heap_start(read_options(argc, argv));
    paths_make(options.seed);
    first_event();
    all.failed_calls = 1;
    for (uint32_t wave = 0; wave < options.waves; wave++) {
        run_wave(wave);
        check_structures();
        bad += run_child();
    }
    for (uint32_t i = 0; i < options.threads; i++)
        expect_add(&all, &workers[i].expected);
    bad += check_profile(account_state()->path, &all, options.threads == 1);
    bad += check_validity();
    for (uint32_t i = 0; i < SHARED_BLOCKS; i++)
        free(shared[i]);
    printf("%s: %" PRIu64 " events\n", bad ? "FAILED" : "passed",
           (uint64_t)options.threads * options.waves * options.events);
    return bad != 0;
}
