/* lua_host.c: a program with Lua linked in, with a custom allocator that counts.
 *
 *     lua_host SCRIPT
 *
 * There are three states: two run one after the other, each in a separate C function, and the third
 * runs in a C function that the second calls. For each, the program prints the number of its
 * allocations, their bytes, and the freed bytes. A fourth state has Lua's default allocator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

struct sums {
    unsigned long allocations, bytes, freed_bytes;
};

static struct sums all[3];

void *
host_alloc(void *ud, void *p, size_t old_bytes, size_t bytes)
{
    struct sums *s = ud;

    if (p != NULL)
        s->freed_bytes += old_bytes;
    if (bytes == 0) {
        free(p);
        return NULL;
    }
    s->allocations++;
    s->bytes += bytes;
    return realloc(p, bytes);
}

/* Call the argument back. */
int
host_spawn(lua_State *l)
{
    lua_pushvalue(l, 1);
    lua_call(l, 0, 1);
    return 1;
}

static int
run(lua_State *l, const char *script, const char *what)
{
    int failed;

    luaL_openlibs(l);
    lua_pushcfunction(l, host_spawn);
    lua_setglobal(l, "spawn");
    lua_pushstring(l, what);
    lua_setglobal(l, "what");
    failed = luaL_loadfile(l, script) != 0 || lua_pcall(l, 0, 0, 0) != 0;
    if (failed)
        fprintf(stderr, "%s\n", lua_tostring(l, -1));
    return failed;
}

/* Run a separate state, in a function that another state calls. */
int
host_inner(lua_State *outer)
{
    lua_State *l = lua_newstate(host_alloc, &all[2]);
    int failed = run(l, lua_tostring(outer, 1), "inner");

    lua_close(l);
    return failed ? luaL_error(outer, "inner") : 0;
}

int
host_first(const char *script)
{
    lua_State *l = lua_newstate(host_alloc, &all[0]);
    int failed = run(l, script, "first");

    lua_close(l);
    return failed;
}

int
host_second(const char *script)
{
    lua_State *l = lua_newstate(host_alloc, &all[1]);
    int failed;

    lua_pushcfunction(l, host_inner);
    lua_setglobal(l, "inner");
    lua_pushstring(l, script);
    lua_setglobal(l, "script");
    failed = run(l, script, "second");
    lua_close(l);
    return failed;
}

int
host_usual(const char *script)
{
    lua_State *l = luaL_newstate();
    int failed = run(l, script, "usual");

    lua_close(l);
    return failed;
}

int
main(int argc, char **argv)
{
    static const char *const names[] = {"host_first", "host_second", "host_inner"};

    if (argc != 2 || host_first(argv[1]) || host_second(argv[1]) || host_usual(argv[1]))
        return 1;
    for (int i = 0; i < 3; i++)
        printf("%s %lu %lu %lu\n", names[i], all[i].allocations, all[i].bytes,
               all[i].freed_bytes);
    return 0;
}
