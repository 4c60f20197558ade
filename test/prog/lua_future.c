/* cflags: -O0 */
/* libs: -rdynamic */
/* lua_future.c: a program that looks as if it had a Lua of an unknown version: it has a future
 * version string, and the functions that identify a Lua for the recorder. These do nothing. Prints
 * the number of their calls. */
#include <stdio.h>
#include <stdlib.h>

const char lua_ident[] = "$LuaVersion: Lua 5.9.7  Copyright (C) of nobody $";

static int calls;

int
lua_getinfo(void *l, const char *what, void *debug)
{
    (void)l;
    (void)what;
    (void)debug;
    return ++calls;
}

int
lua_resume(void *l)
{
    (void)l;
    return ++calls;
}

void *
lua_newstate(void)
{
    calls++;
    return malloc(100);
}

void
lua_close(void *l)
{
    calls++;
    free(l);
}

int
main(void)
{
    lua_close(lua_newstate());
    printf("%d\n", calls);
    return 0;
}
