/* collected.c: allocate from the collector libgc, and track the objects and the survivors.
 *
 *     collected OBJECTS THREADS [plain|incremental|fork]
 *
 * With incremental, the collector works in steps. With fork, a child starts after the first run,
 * runs the same again, and writes its rows to the file "child".
 *
 * Each function that allocates has a row: the number and bytes of the objects that it made, and a
 * link for each object. The collector clears a link when it finds the object dead. After a last
 * collection, the program prints the rows: function, objects, bytes, surviving objects, surviving
 * bytes. */
#define GC_THREADS
#include <gc/gc.h>
#include <gc/gc_disclaim.h>
#include <gc/gc_mark.h>
#include <gc/gc_typed.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 18, LINKS = 1 << 21 };

struct row {
    const char *name;
    unsigned long count, bytes, freed_bytes, freed;
    unsigned char *links; /* The links come from malloc, so the collector does not scan them. */
    unsigned *sizes;
    unsigned used;
};

static struct row rows[ROWS] = {{.name = "keep"},      {.name = "drop"},   {.name = "drop_atomic"},
                                {.name = "drop_big"},  {.name = "strong"}, {.name = "grow"},
                                {.name = "text"},      {.name = "many"},   {.name = "aligned"},
                                {.name = "typed"},     {.name = "debugged"}, {.name = "of_kind"},
                                {.name = "finalized"}, {.name = "disclaimed"}, {.name = "freed"},
                                {.name = "laid_out"},  {.name = "replaced"}};
void *kept[1 << 18]; /* Not static; otherwise the compiler notices that it is never read. */
static void *strongs[1 << 18];

static void
note(unsigned r, void *p, size_t bytes)
{
    struct row *row = &rows[r];
    unsigned i = __atomic_fetch_add(&row->used, 1, __ATOMIC_RELAXED);

    __atomic_fetch_add(&row->count, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&row->bytes, bytes, __ATOMIC_RELAXED);
    row->links[8 * i] = 1;
    row->sizes[i] = (unsigned)bytes;
    // This kind of link is not cleared before the object ends. Other links are cleared when a
    // finalizer is due.
    GC_register_long_link((void **)(row->links + 8 * i), p);
}

/* This function is exported, but declared in no public header. */
void *GC_malloc_kind(size_t bytes, int kind);

#define NOINLINE __attribute__((noinline, noclone))

NOINLINE static void
keep(unsigned i)
{
    kept[i] = GC_MALLOC(24 + i % 40);
    note(0, kept[i], 24 + i % 40);
}

NOINLINE static void
drop(unsigned i)
{
    void *p = GC_MALLOC(8 + i % 300);

    note(1, p, 8 + i % 300);
}

NOINLINE static void
drop_atomic(unsigned i)
{
    void *p = GC_MALLOC_ATOMIC(i % 100);

    note(2, p, i % 100);
}

NOINLINE static void
drop_big(unsigned i)
{
    void *p = GC_MALLOC_IGNORE_OFF_PAGE(5000 + i % 70000);

    note(3, p, 5000 + i % 70000);
}

/* The collector never frees these objects; the program frees two in three. */
NOINLINE static void
strong(unsigned i)
{
    size_t bytes = 40 + i % 30;

    strongs[i] = GC_MALLOC_UNCOLLECTABLE(bytes);
    __atomic_fetch_add(&rows[4].count, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&rows[4].bytes, bytes, __ATOMIC_RELAXED);
    if (i % 3 != 0) {
        GC_FREE(strongs[i]);
        __atomic_fetch_add(&rows[4].freed, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&rows[4].freed_bytes, bytes, __ATOMIC_RELAXED);
    }
}

/* Make three allocations: each realloc ends the block of the previous one, and the collector the
 * last. */
NOINLINE static void
grow(unsigned i)
{
    void *p = GC_REALLOC(GC_REALLOC(GC_REALLOC(NULL, 10), 100), 1000 + i % 10);

    note(5, p, 1000 + i % 10);
    __atomic_fetch_add(&rows[5].count, 2, __ATOMIC_RELAXED);
    __atomic_fetch_add(&rows[5].bytes, 110, __ATOMIC_RELAXED);
    __atomic_fetch_add(&rows[5].freed, 2, __ATOMIC_RELAXED);
    __atomic_fetch_add(&rows[5].freed_bytes, 110, __ATOMIC_RELAXED);
}

NOINLINE static void
text(unsigned i)
{
    char words[64];

    memset(words, 'x', sizeof words);
    words[i % 60] = '\0';
    note(6, GC_STRDUP(words), i % 60 + 1);
    /* The copy of a null text is null. */
    if (GC_strdup(NULL) != NULL || GC_debug_strdup(NULL, GC_EXTRAS) != NULL)
        abort();
}

NOINLINE static void
many(unsigned i)
{
    void *p, *next;

    if (i % 50 != 0)
        return;
    for (p = GC_malloc_many(32); p != NULL; p = next) {
        next = GC_NEXT(p);
        GC_NEXT(p) = NULL;
        note(7, p, 32);
    }
}

NOINLINE static void
aligned(unsigned i)
{
    void *p = GC_memalign(256, 100 + i % 10);

    note(8, GC_base(p), 100 + i % 10);
}

NOINLINE static void
typed(unsigned i)
{
    void *p = GC_generic_malloc(48, 1);

    (void)i;
    note(9, p, 48);
}

NOINLINE static void
debugged(unsigned i)
{
    void *p = GC_debug_malloc(30 + i % 5, GC_EXTRAS);

    note(10, GC_base(p), 30 + i % 5);
}

NOINLINE static void
of_kind(unsigned i)
{
    size_t bytes = 50 + i % 70;

    note(11, GC_malloc_kind(bytes, i % 2), bytes);
}

static unsigned long ended;

static void GC_CALLBACK
at_end(void *p, void *data)
{
    (void)p;
    (void)data;
    __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
}

/* One collection calls the object's finalizer, and the next one ends the object. */
NOINLINE static void
finalized(unsigned i)
{
    void *p = GC_MALLOC(70 + i % 9);

    GC_register_finalizer(p, at_end, NULL, NULL, NULL);
    note(12, p, 70 + i % 9);
}

static struct GC_finalizer_closure closure;

NOINLINE static void
disclaimed(unsigned i)
{
    void *p = GC_finalized_malloc(20 + i % 20, &closure);

    note(13, GC_base(p), 20 + i % 20);
}

NOINLINE static void
freed(unsigned i)
{
    size_t bytes = i % 64 == 0 ? 10000 + i % 100 : 1 + i % 200;

    GC_FREE(GC_MALLOC(bytes));
    __atomic_fetch_add(&rows[14].count, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&rows[14].bytes, bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&rows[14].freed, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&rows[14].freed_bytes, bytes, __ATOMIC_RELAXED);
}

NOINLINE static void
laid_out(unsigned i)
{
    GC_word bits = 1;
    GC_descr layout = GC_make_descriptor(&bits, 4);

    if (i % 2 == 0) {
        void *p = GC_malloc_explicitly_typed(32, layout);

        note(15, GC_base(p), 32);
    } else {
        void *p = GC_calloc_explicitly_typed(1 + i % 5, 32, layout);

        note(15, GC_base(p), 32 * (1 + i % 5));
    }
}

NOINLINE static void
replaced(unsigned i)
{
    void *p = GC_debug_realloc_replacement(GC_debug_malloc_replacement(15), 60 + i % 10);

    note(16, GC_base(p), 60 + i % 10);
    __atomic_fetch_add(&rows[16].count, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&rows[16].bytes, 15, __ATOMIC_RELAXED);
    __atomic_fetch_add(&rows[16].freed, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&rows[16].freed_bytes, 15, __ATOMIC_RELAXED);
}

static unsigned objects;

static void *
work(void *arg)
{
    unsigned first = *(unsigned *)arg;

    for (unsigned i = first; i < first + objects; i++) {
        keep(i);
        drop(i);
        drop_atomic(i);
        if (i % 16 == 0)
            drop_big(i);
        strong(i);
        grow(i);
        text(i);
        many(i);
        aligned(i);
        typed(i);
        debugged(i);
        of_kind(i);
        finalized(i);
        disclaimed(i);
        freed(i);
        laid_out(i);
        replaced(i);
    }
    return NULL;
}

static unsigned asked, asked_of_heaptap;

/* Return true if the data of the library NAME should be scanned. */
static int GC_CALLBACK
is_scanned(const char *name, void *start, size_t bytes)
{
    (void)start;
    (void)bytes;
    asked++;
    asked_of_heaptap += name != NULL && strstr(name, "libheaptap") != NULL;
    return 1;
}

static unsigned firsts[64];
static unsigned events;

static void GC_CALLBACK
on_event(GC_EventType event)
{
    if (event == GC_EVENT_RECLAIM_END)
        events++;
}

static void
run(unsigned threads)
{
    pthread_t ids[64];

    for (unsigned t = 0; t < (threads > 0 ? threads : 1); t++)
        firsts[t] = t * objects;
    if (threads == 0)
        work(&firsts[0]);
    for (unsigned t = 0; t < threads; t++)
        pthread_create(&ids[t], NULL, work, &firsts[t]);
    for (unsigned t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
}

/* Overwrite the used part of the stack, and the callee-saved registers; otherwise, the collector
 * would mistake stale values there for pointers. */
NOINLINE static void
drop_all(void)
{
    volatile char old[4096];

    memset((void *)old, 0, sizeof old);
}

/* Collect until a collection runs no finalizer. An object with a finalizer lives until the next
 * collection, although its link may be cleared by then. */
static void
collect(void)
{
    unsigned long before;

    drop_all();
    GC_gcollect();
    do {
        GC_invoke_finalizers();
        before = ended;
        GC_gcollect();
        GC_invoke_finalizers();
    } while (ended != before);
}

static void
begin_rows(void)
{
    for (unsigned r = 0; r < ROWS; r++) {
        const char *name = rows[r].name;

        rows[r] = (struct row){.name = name};
        rows[r].links = aligned_alloc(8, 8 * LINKS);
        rows[r].sizes = malloc(LINKS * sizeof *rows[r].sizes);
    }
}

static void
print_rows(FILE *out)
{
    for (unsigned r = 0; r < ROWS && rows[r].name != NULL; r++) {
        unsigned long left = 0, left_bytes = 0;

        for (unsigned i = 0; i < rows[r].used; i++)
            if (rows[r].links[8 * i] != 0) {
                left++;
                left_bytes += rows[r].sizes[i];
            }
        if (r == 4) {
            left = rows[r].count - rows[r].freed;
            left_bytes = rows[r].bytes - rows[r].freed_bytes;
        }
        fprintf(out, "%s %lu %lu %lu %lu\n", rows[r].name, rows[r].count, rows[r].bytes, left,
                left_bytes);
    }
}

/* Run again in a forked child, which counts only its own objects. */
static int
child(unsigned threads)
{
    FILE *out = fopen("child", "w");

    begin_rows();
    memset(kept, 0, sizeof kept);
    run(threads);
    collect();
    print_rows(out);
    return fclose(out);
}

int
main(int argc, char **argv)
{
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    const char *mode = argc > 3 ? argv[3] : "plain";
    unsigned first;
    pid_t pid = -1;
    int status = 0;

    if (strcmp(mode, "fork") == 0)
        GC_set_handle_fork(1);
    GC_register_has_static_roots_callback(is_scanned);
    GC_INIT();
    GC_init_finalized_malloc();
    closure.proc = at_end;
    if (strcmp(mode, "incremental") == 0)
        GC_enable_incremental();
    GC_set_on_collection_event(on_event);
    first = (unsigned)GC_get_gc_no();
    objects = (unsigned)atoi(argv[1]);
    begin_rows();
    run(threads);
    if (strcmp(mode, "fork") == 0) {
        fflush(stdout);
        pid = fork();
        if (pid == 0)
            _exit(child(threads));
        waitpid(pid, &status, 0);
    }
    collect();
    print_rows(stdout);
    printf("collections %u\n", (unsigned)GC_get_gc_no() - first);
    printf("filter %d\n", asked > 0 && asked_of_heaptap == 0);
    printf("hook %d\n", events == (unsigned)GC_get_gc_no() - first && events > 0);
    return status;
}
