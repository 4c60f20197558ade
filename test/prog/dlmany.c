/* cflags: -fno-builtin -fno-optimize-sibling-calls */
/* libs: -lpthread -ldl */
/* dlmany.c: load and unload libraries many times.
 *
 *     dlmany loop N       libplugin_one.so is loaded, called and unloaded N times: N blocks of 10
 *                         bytes, freed, in `one_inner`
 *     dlmany moving N     the same, at another address each time
 *     dlmany namespace N  it is loaded into a new namespace, with another libc, and called N
 *                         times: N blocks in `one_inner`, and N in `beside`
 *     dlmany beside N     N calls of libplugin_one.so while another thread loads and unloads
 *                         libplugin_two.so, which is called each time: `one_inner` N, and
 *                         `two_innermost` as often as is printed
 *     dlmany swap N       libplugin_one.so and libplugin_two.so take turns at one address, N times
 *                         each: `one_inner` N, and `two_innermost` N
 *     dlmany races N      four threads load, call and unload six copies of these two, N times each:
 *                         4 N calls of each copy
 * A further argument `raw` finds libc's dlclose in its symbol table, before the recorder redirects
 * it. `old` finds dlopen, dlmopen and dlclose in libc, in older versions than the
 * default ones. Prints "turns T". */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void *plugin_fn(void);

static char directory[PATH_MAX];
static void *volatile kept;
static atomic_bool done;
static atomic_long turns;

static void *(*opens)(const char *, int) = dlopen;
static void *(*opens_apart)(Lmid_t, const char *, int) = dlmopen;
static int (*closes)(void *) = dlclose;

static void
use_old(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

    *(void **)&opens = dlvsym(libc, "dlopen", "GLIBC_2.2.5");
    *(void **)&opens_apart = dlvsym(libc, "dlmopen", "GLIBC_2.3.4");
    *(void **)&closes = dlvsym(libc, "dlclose", "GLIBC_2.2.5");
}

static int
find_dlclose(struct dl_phdr_info *info, size_t size, void *arg)
{
    const Elf64_Sym *table = NULL;
    const char *names = NULL;

    (void)size;
    (void)arg;
    if (strstr(info->dlpi_name, "libc.so") == NULL)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Dyn *d = (const Elf64_Dyn *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);

        for (; info->dlpi_phdr[i].p_type == PT_DYNAMIC && d->d_tag != DT_NULL; d++) {
            if (d->d_tag == DT_SYMTAB)
                table = (const Elf64_Sym *)d->d_un.d_ptr;
            else if (d->d_tag == DT_STRTAB)
                names = (const char *)d->d_un.d_ptr;
        }
    }
    for (; (const char *)table < names; table++)
        if (strcmp(names + table->st_name, "dlclose") == 0)
            *(void **)&closes = (void *)(info->dlpi_addr + table->st_value);
    return 1;
}

static void *
load(const char *name, bool apart, plugin_fn **ret_plugin)
{
    char path[2 * PATH_MAX];
    void *handle;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    handle = apart ? opens_apart(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL)
                   : opens(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        _exit(3);
    *(void **)ret_plugin = dlsym(handle, "plugin");
    return handle;
}

static void
turn(const char *name)
{
    plugin_fn *plugin;
    void *handle = load(name, false, &plugin);

    free(plugin());
    closes(handle);
    turns++;
}

static void
loop(long count)
{
    for (long i = 0; i < count; i++)
        turn("libplugin_one.so");
}

static void
swap(long count)
{
    for (long i = 0; i < count; i++) {
        turn("libplugin_one.so");
        turn("libplugin_two.so");
    }
}

/* Each round in another order, so that the threads meet at different libraries. */
static void *
shuffled(void *arg)
{
    char names[6][8] = {"one1.so", "one2.so", "one3.so", "two1.so", "two2.so", "two3.so"};
    unsigned seed = (unsigned)(uintptr_t)&names;

    for (long i = 0; i < (long)arg; i++) {
        for (size_t k = 0; k < 6; k++) {
            size_t other = k + (size_t)rand_r(&seed) % (6 - k);
            char name[8];

            memcpy(name, names[k], sizeof name);
            memcpy(names[k], names[other], sizeof name);
            memcpy(names[other], name, sizeof name);
            turn(names[k]);
        }
    }
    return NULL;
}

static void
races(long count)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, shuffled, (void *)count);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* Leave a mapping in place of the library, so that the next one is loaded elsewhere. */
static void
moving(long count)
{
    for (long i = 0; i < count; i++) {
        plugin_fn *plugin;
        void *handle = load("libplugin_one.so", false, &plugin);
        char *page = (char *)((uintptr_t)plugin & ~(uintptr_t)4095);

        free(plugin());
        closes(handle);
        mmap(page, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        turns++;
    }
}

__attribute__((noinline)) static void
beside(void)
{
    kept = malloc(10);
}

static void
namespace(long count)
{
    plugin_fn *plugin;
    void *handle = load("libplugin_one.so", true, &plugin);

    for (long i = 0; i < count; i++) {
        kept = plugin();
        beside();
    }
    closes(handle);
}

static void *
load_and_unload(void *arg)
{
    while (!done)
        turn("libplugin_two.so");
    return arg;
}

static void
both(long count)
{
    plugin_fn *plugin;
    void *handle = load("libplugin_one.so", false, &plugin);
    pthread_t other;

    pthread_create(&other, NULL, load_and_unload, NULL);
    for (long i = 0; i < count; i++)
        free(plugin());
    done = true;
    pthread_join(other, NULL);
    closes(handle);
}

static void
show_memory(void)
{
    char line[200];
    FILE *f = fopen("/proc/self/status", "r");

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, "VmRSS", 5) == 0)
            fputs(line, stderr);
    if (f != NULL)
        fclose(f);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(long);
    } table[] = {{"loop", loop}, {"moving", moving}, {"namespace", namespace}, {"beside", both},
                 {"swap", swap},
                 {"races", races}};

    if (argc < 3 || readlink("/proc/self/exe", directory, sizeof directory - 1) < 0)
        return 2;
    dirname(directory);
    if (argc > 3 && strcmp(argv[3], "old") == 0)
        use_old();
    else if (argc > 3)
        dl_iterate_phdr(find_dlclose, NULL);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(argv[1], table[i].name) == 0)
            table[i].run(atol(argv[2]));
    printf("turns %ld\n", atomic_load(&turns));
    show_memory();
    return 0;
}
