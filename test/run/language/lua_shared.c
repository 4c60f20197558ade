/* lua_shared.c: a program with one state of Lua and two threads that take turns.
 *
 * One thread collects garbage and loads a chunk, in a coroutine; the other calls the chunk, chunk0
 * to chunk9 in turn. Each chunk calls a C function, and the calling thread allocates nothing else.
 * After each chunk was loaded eight times, a called chunk and its code have the address of an
 * earlier chunk, in 5.1 and 5.4. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

enum { CHUNKS = 1000 };

static lua_State *loading_state;
static sem_t loads, calls;
void *blocks[CHUNKS];
int block_count;

int
shared_take(lua_State *l)
{
    (void)l;
    blocks[block_count++] = malloc(500);
    return 0;
}

static void *
load_chunks(void *arg)
{
    for (int i = 0; i < CHUNKS; i++) {
        sem_wait(&loads);
        lua_getglobal(loading_state, "make");
        lua_pushinteger(loading_state, i);
        if (lua_pcall(loading_state, 1, 0, 0) != 0)
            abort();
        sem_post(&calls);
    }
    return arg;
}

int
main(void)
{
    static const char *script =
        "local load = loadstring or load\n"
        "function make(i) for k = 1, 8 do\n"
        "chunk = nil collectgarbage() collectgarbage() collectgarbage('stop')\n"
        "chunk = load('take() return 1', '=chunk'..i % 10) end end";
    lua_State *l = luaL_newstate();
    pthread_t loader;

    luaL_openlibs(l);
    lua_pushcfunction(l, shared_take);
    lua_setglobal(l, "take");
    loading_state = lua_newthread(l);
    if (luaL_dostring(l, script) != 0)
        return 1;
    sem_init(&loads, 0, 0);
    sem_init(&calls, 0, 0);
    pthread_create(&loader, NULL, load_chunks, NULL);
    for (int i = 0; i < CHUNKS; i++) {
        sem_post(&loads);
        sem_wait(&calls);
        lua_getglobal(l, "chunk");
        if (lua_pcall(l, 0, 0, 0) != 0)
            return 1;
    }
    return pthread_join(loader, NULL);
}
