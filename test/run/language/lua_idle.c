/* lua_idle.c: a program that embeds Lua and rarely runs it. A script calls idle_make 50 times;
 * afterwards the program's own functions call it N times.
 *
 *     lua_idle N */
#include <stdlib.h>

#include "lauxlib.h"
#include "lua.h"

__attribute__((noinline)) static void *
idle_make(size_t size_bytes)
{
    return malloc(size_bytes);
}

static int
from_script(lua_State *l)
{
    free(idle_make((size_t)lua_tointeger(l, 1)));
    return 0;
}

__attribute__((noinline)) static void
idle_work(long n)
{
    for (long i = 0; i < n; i++) {
        void *volatile p = idle_make(40);

        free(p);
    }
}

int
main(int argc, char **argv)
{
    lua_State *l = luaL_newstate();
    long n = argc > 1 ? atol(argv[1]) : 0;

    if (l == NULL)
        return 2;
    lua_pushcclosure(l, from_script, 0);
    lua_setglobal(l, "make");
    idle_work(n / 2);
    if (luaL_loadstring(l, "for i = 1, 50 do make(40) end") != 0 || lua_pcall(l, 0, 0, 0) != 0)
        return 1;
    idle_work(n - n / 2);
    lua_close(l);
    return 0;
}
