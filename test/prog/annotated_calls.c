/* libs: -lpthread */
/* annotated_calls.c: call every allocation function and use the results as strictly as programs
 * may: write to all of malloc_usable_size, check alignments and contents, and expect the documented
 * errors. Prints only "ok" if every check passes. Keeps argv[1] blocks of 1000 bytes and one block
 * from each function for a dump. If argv[2] is given, it then raises SIGSEGV. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

#define EXPECT(what)                                                                               \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what);                                     \
            if (++failures > 20)                                                                   \
                exit(1);                                                                           \
        }                                                                                          \
    } while (0)

/* Check and overwrite all usable bytes of P, which was allocated for SIZE at ALIGN. Return P. */
static void *
use(void *p, size_t size, size_t align)
{
    EXPECT(p != NULL);
    EXPECT((uintptr_t)p % (align == 16 && size < 16 ? 8 : align) == 0);
    EXPECT(malloc_usable_size(p) >= size);
    memset(p, 0x5a, malloc_usable_size(p));
    return p;
}

static int
is_filled(const unsigned char *p, size_t size, int byte)
{
    for (size_t i = 0; i < size; i++)
        if (p[i] != byte)
            return 0;
    return 1;
}

static void
sizes(void)
{
    for (size_t size = 0; size < 300; size++) {
        unsigned char *p = use(malloc(size), size, 16);

        p = realloc(p, size * 3 + 1);
        EXPECT(is_filled(p, size, 0x5a));
        p = realloc(use(p, size * 3 + 1, 16), size / 2 + 1);
        EXPECT(is_filled(p, size / 2 + 1, 0x5a));
        free(p);
        p = calloc(size, 3);
        EXPECT(is_filled(p, size * 3, 0));
        free(use(p, size * 3, 16));
    }
    for (size_t size = 1000; size < 40000000; size = size * 3 + 7) {
        unsigned char *p = use(malloc(size), size, 16);

        p = realloc(p, size * 2);
        EXPECT(p != NULL && is_filled(p, size, 0x5a));
        free(use(p, size * 2, 16));
        p = calloc(1, size);
        EXPECT(is_filled(p, size, 0));
        free(p);
    }
}

static void
alignments(void)
{
    for (size_t align = 8; align <= (size_t)4 << 20; align *= 2) {
        void *p = NULL, *q;

        EXPECT(posix_memalign(&p, align, 100) == 0);
        q = realloc(use(p, 100, align), 5000);
        EXPECT(is_filled(q, 100, 0x5a));
        free(q);
        free(use(memalign(align, align + 3), align + 3, align));
        free(use(aligned_alloc(align, align * 2), align * 2, align));
    }
    free(use(valloc(100), 100, 4096));
}

static void
errors(void)
{
    volatile size_t huge = PTRDIFF_MAX, half = SIZE_MAX / 2 + 2;
    // Volatile, because the compiler assumes that a failed realloc frees its block.
    void *volatile kept = strdup("kept");
    void *p = NULL;

    errno = 0;
    EXPECT(malloc(huge) == NULL && errno == ENOMEM);
    errno = 0;
    EXPECT(malloc(huge - 50) == NULL && errno == ENOMEM);
    errno = 0;
    EXPECT(calloc(half, 2) == NULL);
    errno = 0;
    EXPECT(realloc(kept, huge - 50) == NULL && errno == ENOMEM && strcmp(kept, "kept") == 0);
    errno = 0;
    EXPECT(reallocarray(kept, half, 2) == NULL && errno == ENOMEM && strcmp(kept, "kept") == 0);
    EXPECT(posix_memalign(&p, 24, 100) == EINVAL && p == NULL);
    EXPECT(posix_memalign(&p, 2, 100) == EINVAL && p == NULL);
    EXPECT(posix_memalign(&p, 64, huge - 50) == ENOMEM && p == NULL);
    kept = reallocarray(kept, 10, 10);
    EXPECT(strcmp(kept, "kept") == 0);
    errno = 77;
    free(kept);
    EXPECT(errno == 77);
    free(NULL);
    EXPECT(malloc_usable_size(NULL) == 0);
    p = realloc(NULL, 10);
    free(use(p, 10, 16));
    p = realloc(malloc(10), 0);
    free(p);
}

/* Free blocks that libc allocated. */
static void
libc(void)
{
    char *line = NULL, *text = NULL;
    size_t size = 0;
    FILE *f = fopen("/proc/self/maps", "r");

    while (getline(&line, &size, f) > 0)
        ;
    fclose(f);
    free(line);
    EXPECT(asprintf(&text, "%d %s", 7, "words") == 7);
    free(text);
    f = open_memstream(&text, &size);
    for (int i = 0; i < 10000; i++)
        fprintf(f, "%d ", i);
    fclose(f);
    EXPECT(size == 48890);
    free(text);
    free(realpath("/proc/self/..", NULL));
}

static void *
thread(void *arg)
{
    void **shared = arg;

    for (int i = 0; i < 20000; i++) {
        void *mine = use(malloc((size_t)i % 400), (size_t)i % 400, 16);

        free(__atomic_exchange_n(&shared[i % 64], mine, __ATOMIC_ACQ_REL));
    }
    return NULL;
}

static void
threads(void)
{
    static void *shared[64];
    pthread_t t[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, thread, shared);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < 64; i++)
        free(shared[i]);
}

/* Let a child free and resize blocks inherited from its parent. */
static void
children(void)
{
    void *plain = use(malloc(100), 100, 16), *aligned = use(memalign(256, 100), 100, 256);
    int status;

    if (fork() == 0) {
        plain = realloc(plain, 10000);
        EXPECT(is_filled(plain, 100, 0x5a));
        free(plain);
        EXPECT(malloc_usable_size(aligned) >= 100);
        free(aligned);
        sizes();
        _exit(failures != 0);
    }
    EXPECT(wait(&status) > 0 && status == 0);
    free(plain);
    free(aligned);
}

int
main(int argc, char **argv)
{
    int kept = argc > 1 ? atoi(argv[1]) : 0;
    static void *keep[8];

    sizes();
    alignments();
    errors();
    libc();
    threads();
    children();
    if (kept > 0)
        // pvalloc is called only here, because not all allocators have it.
        free(use(pvalloc(100), 4096, 4096));
    for (int i = 0; i < kept; i++)
        if (malloc(1000) == NULL)
            return 1;
    keep[0] = malloc(100);
    keep[1] = calloc(10, 10);
    keep[2] = realloc(NULL, 100);
    keep[3] = memalign(1024, 100);
    keep[4] = aligned_alloc(64, 128);
    if (posix_memalign(&keep[5], 4096, 100) != 0)
        return 1;
    keep[6] = valloc(100);
    keep[7] = reallocarray(NULL, 10, 10);
    puts(failures == 0 ? "ok" : "failed");
    fflush(stdout);
    if (argc > 2)
        raise(SIGSEGV);
    return failures != 0;
}
