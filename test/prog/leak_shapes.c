/* cflags: -fno-builtin -O0 -g */
/* libs: -lpthread */
/* leak_shapes.c: makes the shapes of blocks that its arguments name, then lets a leak checker look.
 *
 *     leak_shapes SHAPE:COUNT:BYTES...
 *
 * Each argument makes COUNT blocks of BYTES, at least 24, as its name states in `shapes`. Linked
 * with LeakSanitizer, the program calls its check and ends. Otherwise it says "ready" and waits for
 * a line. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEPT_MAX = 4096, THREADS_MAX = 64, WIPED_BYTES = 64 << 10, PAGE_BYTES = 4096 };

struct node {
    struct node *next, *other;
    char *rest;
};

int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static void *kept[KEPT_MAX];
static size_t kept_count;
static uintptr_t inverted[KEPT_MAX];
static size_t inverted_count;
static struct node *freed_holder[KEPT_MAX];
static size_t freed_count;
static __thread void *local[KEPT_MAX / 16];
static pthread_barrier_t started;
static size_t thread_count;

static void *
make(size_t bytes)
{
    void *p = malloc(bytes);

    if (p == NULL)
        exit(2);
    memset(p, 0, bytes);
    return p;
}

static struct node *
make_list(size_t count, size_t bytes)
{
    struct node *head = NULL;

    for (size_t i = 0; i < count; i++) {
        struct node *n = make(bytes);

        n->next = head;
        head = n;
    }
    return head;
}

static struct node *
make_ring(size_t count, size_t bytes)
{
    struct node *last = make(bytes), *head = last;

    for (size_t i = 1; i < count; i++) {
        struct node *n = make(bytes);

        n->next = head;
        head = n;
    }
    last->next = head;
    return head;
}

static struct node *
make_tree(size_t count, size_t bytes)
{
    struct node *n;

    if (count == 0)
        return NULL;
    n = make(bytes);
    n->next = make_tree((count - 1) / 2, bytes);
    n->other = make_tree(count - 1 - (count - 1) / 2, bytes);
    return n;
}

static void
keep(void *p)
{
    kept[kept_count++] = p;
}

static void
keep_list(size_t count, size_t bytes)
{
    keep(make_list(count, bytes));
}

static void
lose_list(size_t count, size_t bytes)
{
    make_list(count, bytes);
}

static void
keep_ring(size_t count, size_t bytes)
{
    keep(make_ring(count, bytes));
}

static void
lose_ring(size_t count, size_t bytes)
{
    make_ring(count, bytes);
}

static void
keep_tree(size_t count, size_t bytes)
{
    keep(make_tree(count, bytes));
}

static void
lose_tree(size_t count, size_t bytes)
{
    make_tree(count, bytes);
}

static void
keep_inside(size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        keep((char *)make(bytes) + bytes / 2);
}

/* A pointer to the first byte behind a block keeps nothing. */
static void
keep_end(size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        keep((char *)make(bytes) + bytes);
}

static void
keep_local(size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        local[i] = make(bytes);
}

static void
lose_inverted(size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        inverted[inverted_count++] = ~(uintptr_t)make(bytes);
}

static void
lose_in_freed(size_t count, size_t bytes)
{
    struct node *holder = make(bytes);

    for (size_t i = 0; i < count; i++)
        holder->rest = make(bytes);
    freed_holder[freed_count++] = holder;
    free(holder);
}

/* A pointer in memory that was mapped without malloc: LeakSanitizer does not search it. */
static void
keep_mapped(size_t count, size_t bytes)
{
    void **page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);

    for (size_t i = 0; i < count; i++)
        page[i] = make(bytes);
}

static void
keep_specific(size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        pthread_key_t key;

        pthread_key_create(&key, NULL);
        pthread_setspecific(key, make(bytes));
    }
}

static void
lose_unaligned(size_t count, size_t bytes)
{
    static char text[KEPT_MAX];
    static size_t used = 1;

    for (size_t i = 0; i < count; i++, used += 2 * sizeof(void *)) {
        void *p = make(bytes);

        memcpy(text + used, &p, sizeof p);
    }
}

static void
lose_moved(size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        realloc(make(bytes / 2), bytes);
}

static void
lose_aligned(size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        void *p;

        if (posix_memalign(&p, 256, bytes) != 0)
            exit(2);
    }
}

struct of_thread {
    size_t bytes;
};

static void *
run_thread(void *given)
{
    const struct of_thread *t = given;
    void *volatile on_stack = make(t->bytes);

    local[0] = make(t->bytes);
    pthread_barrier_wait(&started);
    pause();
    free(on_stack);
    return NULL;
}

/* Each thread keeps two blocks: by a variable and on its stack. */
static void
keep_in_threads(size_t count, size_t bytes)
{
    static struct of_thread all[THREADS_MAX];

    pthread_barrier_init(&started, NULL, 2);
    for (size_t i = 0; i < count; i++) {
        pthread_t thread;

        all[thread_count] = (struct of_thread){bytes};
        if (pthread_create(&thread, NULL, run_thread, &all[thread_count++]) != 0)
            exit(2);
        pthread_barrier_wait(&started);
    }
}

static void *
lose_and_end(void *given)
{
    const struct of_thread *t = given;

    local[0] = make(t->bytes);
    return NULL;
}

/* The block of an ended thread's variable is lost. */
static void
lose_with_thread(size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        struct of_thread t = {bytes};
        pthread_t thread;

        if (pthread_create(&thread, NULL, lose_and_end, &t) != 0)
            exit(2);
        pthread_join(thread, NULL);
    }
}

static const struct shape {
    const char *name;
    void (*make)(size_t count, size_t bytes);
} shapes[] = {
    {"keep_list", keep_list},         {"lose_list", lose_list},
    {"keep_ring", keep_ring},         {"lose_ring", lose_ring},
    {"keep_tree", keep_tree},         {"lose_tree", lose_tree},
    {"keep_inside", keep_inside},     {"keep_end", keep_end},
    {"keep_local", keep_local},       {"lose_inverted", lose_inverted},
    {"lose_in_freed", lose_in_freed}, {"keep_mapped", keep_mapped},
    {"keep_specific", keep_specific}, {"lose_unaligned", lose_unaligned},
    {"lose_moved", lose_moved},       {"lose_aligned", lose_aligned},
    {"keep_in_threads", keep_in_threads}, {"lose_with_thread", lose_with_thread},
};

static void __attribute__((noinline))
wipe(void)
{
    volatile char bytes[WIPED_BYTES];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0;
    (void)bytes[0];
}

static void
make_shape(const char *text)
{
    const char *colon = strchr(text, ':');
    unsigned long count, bytes;

    if (colon == NULL || sscanf(colon, ":%lu:%lu", &count, &bytes) != 2)
        exit(2);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strlen(shapes[i].name) == (size_t)(colon - text) &&
            strncmp(shapes[i].name, text, (size_t)(colon - text)) == 0) {
            shapes[i].make(count, bytes);
            return;
        }
    exit(2);
}

int
main(int count, char **arguments)
{
    char c;

    for (int i = 1; i < count; i++) {
        make_shape(arguments[i]);
        wipe();
    }
    if (__lsan_do_recoverable_leak_check != NULL) {
        __lsan_do_recoverable_leak_check();
        _exit(0);
    }
    if (write(1, "ready\n", 6) != 6 || read(0, &c, 1) < 0)
        return 1;
    _exit(0);
}
