/* lua_pool.c: a program with Lua linked in, with a first-fit pool.
 *
 * The program loads a thousand chunks, chunk0 to chunk9 in turn. Each is loaded after the previous
 * chunk was collected, so the chunk, its code and its call record get the same addresses. Each
 * chunk calls a C function, and only that function calls malloc. */
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

enum { POOL_BYTES = 1 << 24, CLASSES = 4096 };

static _Alignas(16) char pool[POOL_BYTES];
static size_t used;
static void *free_of[CLASSES]; /* Lists of free blocks, by size in words of 16 bytes. */

void *blocks[1000];
int block_count;

static void *
take(size_t class)
{
    void **lowest = &free_of[class], *p;

    if (*lowest == NULL) {
        used += class * 16;
        return used <= POOL_BYTES ? pool + used - class * 16 : NULL;
    }
    for (void **at = lowest; *at != NULL; at = *at)
        if (*at < *lowest)
            lowest = at;
    p = *lowest;
    *lowest = *(void **)p;
    return p;
}

static void *
pool_alloc(void *ud, void *p, size_t old_bytes, size_t bytes)
{
    size_t old_class = p != NULL ? (old_bytes + 15) / 16 : 0, class = (bytes + 15) / 16;
    void *q = NULL;

    (void)ud;
    if (class >= CLASSES)
        return NULL;
    if (bytes > 0 && (q = take(class)) == NULL)
        return NULL;
    if (q != NULL && old_class > 0)
        memcpy(q, p, old_bytes < bytes ? old_bytes : bytes);
    if (old_class > 0) {
        *(void **)p = free_of[old_class];
        free_of[old_class] = p;
    }
    return q;
}

int
pool_take(lua_State *l)
{
    (void)l;
    blocks[block_count++] = malloc(500);
    return 0;
}

int
main(void)
{
    static const char *script =
        "collectgarbage('stop')\n"
        "local load = loadstring or load\n"
        "local function one(i) load('take() return 1', '=chunk'..i % 10)() end\n"
        "for i = 1, 1000 do one(i) collectgarbage() collectgarbage('stop') end";
    lua_State *l = lua_newstate(pool_alloc, NULL);

    luaL_openlibs(l);
    lua_pushcfunction(l, pool_take);
    lua_setglobal(l, "take");
    return luaL_dostring(l, script);
}
