/* cflags: -O1 -fno-optimize-sibling-calls */
/* libs: -ldl */
/* flat.c: run for a long time without making the recorder grow.
 *
 *     flat events N          N pairs of malloc and free: 64 sites at depths 1 to 64, sizes 1 to
 *                            4000, 20000 blocks live at any time, replaced at random
 *     flat stacks N          N pairs, each from a path of 24 calls chosen at random: no stack twice
 *     flat moves N           one block moved to another size N times, from one place
 *     flat modules N LIBRARY N times dlopen, one allocation of 10 bytes in it, dlclose
 *     flat places N LIBRARY  the same, at another address each time
 *
 * After 1, 50 and 100 % of the run, it prints its resident memory in KiB. At the end, none of its
 * blocks is live. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define OWN __attribute__((noinline, noclone))

enum { LIVE = 20000, DEPTH = 64, PATH_CALLS = 24 };

static void *blocks[LIVE];
static uint64_t seed = 88172645463325252u;

static uint64_t
next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static long
resident_kib(void)
{
    char text[128] = "";
    FILE *f = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (f != NULL && fgets(text, sizeof text, f) != NULL)
        sscanf(text, "%*s %ld", &pages);
    if (f != NULL)
        fclose(f);
    return pages * 4;
}

static void
mark(uint64_t done, uint64_t wanted)
{
    if (done == wanted / 100 || done == wanted / 2 || done == wanted) {
        printf("%3d %% resident_kib %ld\n", (int)(done * 100 / wanted), resident_kib());
        fflush(stdout);
    }
}

OWN static void *
descend(unsigned depth, size_t size_bytes)
{
    void *volatile p = depth == 0 ? malloc(size_bytes) : descend(depth - 1, size_bytes);

    return p;
}

static void
events(uint64_t pairs)
{
    for (uint64_t i = 1; i <= pairs; i++) {
        uint64_t r = next_random();
        void **slot = &blocks[r % LIVE];

        free(*slot);
        *slot = descend((unsigned)(r >> 40) % DEPTH, (r >> 20) % 4000 + 1);
        mark(i, pairs);
    }
    for (size_t i = 0; i < LIVE; i++)
        free(blocks[i]);
}

/* Make one call of a path: the low bits of PATH select the next call site. */
OWN static void *
wander(unsigned calls, uint64_t path)
{
    void *volatile p;

    if (calls == 0)
        return malloc(path % 100 + 1);
    switch (path & 7) {
    case 0: p = wander(calls - 1, path >> 3 | path << 61); break;
    case 1: p = wander(calls - 1, path >> 3 | path << 61); __asm__ volatile("# 1"); break;
    case 2: p = wander(calls - 1, path >> 3 | path << 61); __asm__ volatile("# 2"); break;
    case 3: p = wander(calls - 1, path >> 3 | path << 61); __asm__ volatile("# 3"); break;
    case 4: p = wander(calls - 1, path >> 3 | path << 61); __asm__ volatile("# 4"); break;
    case 5: p = wander(calls - 1, path >> 3 | path << 61); __asm__ volatile("# 5"); break;
    case 6: p = wander(calls - 1, path >> 3 | path << 61); __asm__ volatile("# 6"); break;
    default: p = wander(calls - 1, path >> 3 | path << 61); __asm__ volatile("# 7"); break;
    }
    return p;
}

static void
stacks(uint64_t pairs)
{
    for (uint64_t i = 1; i <= pairs; i++) {
        free(wander(PATH_CALLS, next_random()));
        mark(i, pairs);
    }
}

OWN static void
moves(uint64_t times)
{
    void *p = NULL;

    for (uint64_t i = 1; i <= times; i++)
        p = realloc(p, i % 2 ? 5000 : 100);
    free(p);
}

typedef void *plugin_fn(void);

/* Occupy the address of an unloaded library, so that the next one is loaded at another address. */
static void
occupy(void *base)
{
    mmap(base, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static int
modules(uint64_t times, const char *library, int move)
{
    for (uint64_t i = 1; i <= times; i++) {
        void *handle = dlopen(library, RTLD_NOW);
        plugin_fn *plugin = handle ? (plugin_fn *)(uintptr_t)dlsym(handle, "plugin") : NULL;
        Dl_info info;

        if (plugin == NULL || dladdr((void *)(uintptr_t)plugin, &info) == 0) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        free(plugin());
        dlclose(handle);
        if (move)
            occupy(info.dli_fbase);
        mark(i, times);
    }
    return 0;
}

int
main(int argc, char **argv)
{
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

    if (count >= 100 && strcmp(argv[1], "events") == 0)
        events(count);
    else if (count >= 100 && strcmp(argv[1], "stacks") == 0)
        stacks(count);
    else if (count >= 100 && strcmp(argv[1], "moves") == 0)
        moves(count);
    else if (count >= 100 && argc > 3)
        return modules(count, argv[3], strcmp(argv[1], "places") == 0);
    else
        return 2;
    return 0;
}
