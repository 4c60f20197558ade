/* lua_threads.c: run four threads, each with a separate state of Lua and an allocator that counts.
 *
 *     lua_threads SCRIPT
 *
 * For each, prints the function that runs it, the number of its allocations and their bytes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static struct sums {
    unsigned long allocations, bytes;
} all[4];
static const char *script;

void *
sum_alloc(void *ud, void *p, size_t old_bytes, size_t bytes)
{
    struct sums *s = ud;

    (void)old_bytes;
    if (bytes == 0) {
        free(p);
        return NULL;
    }
    s->allocations++;
    s->bytes += bytes;
    return realloc(p, bytes);
}

#define THREAD(k)                                                                                  \
    void *thread_##k(void *arg)                                                                    \
    {                                                                                              \
        lua_State *l = lua_newstate(sum_alloc, &all[k]);                                           \
                                                                                                   \
        luaL_openlibs(l);                                                                          \
        if (luaL_loadfile(l, script) != 0 || lua_pcall(l, 0, 0, 0) != 0)                           \
            fprintf(stderr, "%s\n", lua_tostring(l, -1));                                          \
        lua_close(l);                                                                              \
        return arg;                                                                                \
    }

THREAD(0)
THREAD(1)
THREAD(2)
THREAD(3)

int
main(int argc, char **argv)
{
    void *(*const run[])(void *) = {thread_0, thread_1, thread_2, thread_3};
    pthread_t ids[4];

    if (argc != 2)
        return 1;
    script = argv[1];
    for (int i = 0; i < 4; i++)
        pthread_create(&ids[i], NULL, run[i], NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(ids[i], NULL);
    for (int i = 0; i < 4; i++)
        printf("thread_%d %lu %lu\n", i, all[i].allocations, all[i].bytes);
    return 0;
}
