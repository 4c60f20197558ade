/* lua_moves.c: a program with Lua linked in, whose allocator moves blocks differently from realloc.
 *
 *     lua_moves SCRIPT head|copy
 *
 * With head, the allocator puts a size in front of each block, so realloc's address differs from
 * Lua's. With copy, it copies a growing block to a new one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

enum { HEAD_BYTES = 16 };

static void *
head_alloc(void *ud, void *p, size_t old_bytes, size_t bytes)
{
    char *block = p != NULL ? (char *)p - HEAD_BYTES : NULL;

    (void)ud;
    (void)old_bytes;
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    block = realloc(block, bytes + HEAD_BYTES);
    if (block == NULL)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    return block + HEAD_BYTES;
}

static void *
copy_alloc(void *ud, void *p, size_t old_bytes, size_t bytes)
{
    void *q = bytes > 0 ? malloc(bytes) : NULL;

    (void)ud;
    if (q == NULL && bytes > 0)
        return NULL;
    if (p != NULL && q != NULL)
        memcpy(q, p, old_bytes < bytes ? old_bytes : bytes);
    free(p);
    return q;
}

int
main(int argc, char **argv)
{
    lua_State *l;
    int failed;

    if (argc != 3)
        return 2;
    l = lua_newstate(strcmp(argv[2], "head") == 0 ? head_alloc : copy_alloc, NULL);
    luaL_openlibs(l);
    failed = luaL_loadfile(l, argv[1]) != 0 || lua_pcall(l, 0, 0, 0) != 0;
    if (failed)
        fprintf(stderr, "%s\n", lua_tostring(l, -1));
    lua_close(l);
    return failed;
}
