/* hooked.c: allocate from functions with other names than malloc's, so that only --hook records the
 * blocks. Each function of the allocator is called by one function here, a known number of times
 * with known sizes. If hook.sh fails on it, hooks lose events, count them twice, or charge them to
 * the wrong caller. */
/* cflags: -fno-builtin -fno-optimize-sibling-calls */
/* libs: -lown -Wl,-rpath,$ORIGIN */
#include <stdio.h>
#include <stdlib.h>

void *own_malloc(size_t size);
void *own_calloc(size_t count, size_t size);
void *own_realloc(void *p, size_t size);
void *own_aligned(size_t align, size_t size);
int own_posix(void **ret, size_t align, size_t size);
void *own_wrap(size_t size);
char *own_strdup(const char *text);
void own_free(void *p);
void own_unwrap(void *p);

enum { COUNT = 1000 };

static void *blocks[COUNT];

__attribute__((noinline)) static void
take(void)
{
    for (int i = 0; i < COUNT; i++)
        blocks[i] = own_malloc((size_t)i % 100 + 1);
    __asm__ volatile("");
}

__attribute__((noinline)) static void
grow(void)
{
    for (int i = 0; i < COUNT; i += 2)
        blocks[i] = own_realloc(blocks[i], 1000);
    __asm__ volatile("");
}

__attribute__((noinline)) static void
give(int from)
{
    for (int i = from; i < COUNT; i += 2) {
        own_free(blocks[i]);
        blocks[i] = NULL;
    }
    __asm__ volatile("");
}

__attribute__((noinline)) static void
others(void)
{
    void *p = NULL;

    for (int i = 0; i < 10; i++) {
        own_free(own_calloc(10, 7));
        own_free(own_aligned(64, 100));
        if (own_posix(&p, 64, 200) == 0)
            own_free(p);
        own_free(own_strdup("twelve bytes"));
    }
    __asm__ volatile("");
}

/* Call a function that gets its block from malloc. Each call is one event, and malloc's free ends
 * some of these blocks. */
__attribute__((noinline)) static void
wrapped(void)
{
    for (int i = 0; i < 100; i++) {
        void *p = own_wrap(50);

        if (i % 4 == 0)
            own_unwrap(p);
        else if (i % 4 == 1)
            free(p);
    }
    __asm__ volatile("");
}

int
main(void)
{
    take();
    grow();
    give(1);
    others();
    wrapped();
    printf("done\n");
    return 0;
}
