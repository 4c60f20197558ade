/* cflags: -fno-builtin -O0 -g */
/* libs: -lpthread */
/* retained.c: blocks whose keepers are known.
 *
 *     list        100 nodes of 32 bytes, each with text of 100 bytes
 *     tree        127 nodes of 48 bytes
 *     registry    a table of 24 bytes, an array of 64 buckets, 64 entries of 56 bytes
 *     ring        10 nodes of 32 bytes in a circle; the last one also points into the first
 *     first_user, second_user: one block of 5000 bytes
 *     local       a thread-local variable of both threads: blocks of 7000 and 7100 bytes
 *     hold()      a block of 6000 bytes on the stack; 6100 bytes in the other thread
 *     mapped memory: a block of 9000 bytes
 *     nothing     a chain of 3 nodes of 32 bytes, each with text of 100 bytes, and 2 nodes of 32
 *                 bytes that point to each other
 *     a freed block of 3000 bytes
 *
 * It prints a line "NAME ADDRESS" for some of the blocks, then "ready", and waits for a line. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LIST = 100, LEVELS = 7, BUCKETS = 64, RING = 10, TEXT_BYTES = 100 };

struct node {
    long number;
    struct node *next;
    char *text;
    void *middle;
};

struct tree {
    struct tree *left, *right;
    char fill[32];
};

struct entry {
    const char *key;
    struct entry *chain;
    char value[40];
};

struct table {
    size_t used;
    struct entry **buckets;
    size_t bucket_count;
};

struct node *list;
static struct node *ring;
static struct tree *tree;
static struct {
    long used;
    struct table *map;
} registry;
static void *first_user, *second_user;
static void **mapped;
static __thread void *local;
static pthread_barrier_t ready;

static struct node *
add_node(struct node *next, size_t text_bytes)
{
    struct node *n = calloc(1, sizeof *n);

    n->next = next;
    if (text_bytes > 0)
        n->text = calloc(1, text_bytes);
    return n;
}

static struct tree *
grow_tree(int levels)
{
    struct tree *t = calloc(1, sizeof *t);

    if (levels > 1) {
        t->left = grow_tree(levels - 1);
        t->right = grow_tree(levels - 1);
    }
    return t;
}

static void
fill_map(void)
{
    struct table *map = registry.map = calloc(1, sizeof *map);

    map->bucket_count = BUCKETS;
    map->buckets = calloc(BUCKETS, sizeof(struct entry *));
    for (size_t i = 0; i < BUCKETS; i++) {
        struct entry *e = calloc(1, sizeof *e);

        e->key = "key";
        e->chain = map->buckets[i / 2];
        map->buckets[i / 2] = e;
    }
}

static void
close_ring(void)
{
    struct node *last = add_node(NULL, 0);

    ring = last;
    for (int i = 1; i < RING; i++)
        ring = add_node(ring, 0);
    last->middle = (char *)ring + 8;
}

static void
lose(void)
{
    struct node *chain = NULL, *a = add_node(NULL, 0);

    for (int i = 0; i < 3; i++)
        chain = add_node(chain, TEXT_BYTES);
    a->next = add_node(a, 0);
    printf("lost %p\n", (void *)chain);
}

static void
wipe_stack(void)
{
    volatile char wiped[16384];

    for (size_t i = 0; i < sizeof wiped; i++)
        wiped[i] = 0;
}

/* Overwrite what earlier calls have left on the stack and in vector registers. */
static void
wipe(void)
{
    char from[512] = {0}, to[512];

    wipe_stack();
    memcpy(to, from, sizeof to);
#if defined(__x86_64__)
    __asm__ volatile("pxor %%xmm0, %%xmm0\n\tpxor %%xmm1, %%xmm1\n\tpxor %%xmm2, %%xmm2\n\t"
                     "pxor %%xmm3, %%xmm3\n\tpxor %%xmm4, %%xmm4\n\tpxor %%xmm5, %%xmm5\n\t"
                     "pxor %%xmm6, %%xmm6\n\tpxor %%xmm7, %%xmm7\n\tpxor %%xmm8, %%xmm8\n\t"
                     "pxor %%xmm9, %%xmm9\n\tpxor %%xmm10, %%xmm10\n\tpxor %%xmm11, %%xmm11\n\t"
                     "pxor %%xmm12, %%xmm12\n\tpxor %%xmm13, %%xmm13\n\tpxor %%xmm14, %%xmm14\n\t"
                     "pxor %%xmm15, %%xmm15" ::
                         : "memory");
#endif
}

static void
wait_for_line(void)
{
    char c;

    wipe();
    while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
        continue;
}

static void
hold(size_t size_bytes, const char *name)
{
    void *volatile held = malloc(size_bytes);
    void *freed;

    memset(held, 0, size_bytes);
    printf("%s %p\n", name, held);
    fflush(stdout);
    pthread_barrier_wait(&ready);
    wipe();
    if (name[0] == 'o') {
        pthread_barrier_wait(&ready);
        return;
    }
    freed = malloc(3000);
    printf("freed %p\n", freed);
    free(freed);
    printf("ready\n");
    fflush(stdout);
    wait_for_line();
}

static void *
other(void *unused)
{
    (void)unused;
    local = calloc(1, 7100);
    hold(6100, "other_held");
    return NULL;
}

static void
make_all(void)
{
    struct node *n;

    for (int i = 0; i < LIST; i++)
        list = add_node(list, TEXT_BYTES);
    for (n = list; n->next != NULL; n = n->next)
        continue;
    printf("tail %p\n", (void *)n->text);
    tree = grow_tree(LEVELS);
    fill_map();
    printf("entry %p\n", (void *)registry.map->buckets[3]->chain);
    close_ring();
    first_user = second_user = calloc(1, 5000);
    printf("shared %p\n", first_user);
    local = calloc(1, 7000);
    printf("local %p\n", local);
    mapped = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mapped[7] = calloc(1, 9000);
    printf("mapped %p\n", mapped[7]);
    lose();
}

int
main(void)
{
    pthread_t thread;

    make_all();
    wipe();
    pthread_barrier_init(&ready, NULL, 2);
    pthread_create(&thread, NULL, other, NULL);
    hold(6000, "held");
    pthread_barrier_wait(&ready);
    pthread_join(thread, NULL);
    return 0;
}
