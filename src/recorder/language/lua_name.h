/* lua_name.h: the names of functions of Lua, as ids. Signal-safe; no function here allocates. */
#ifndef LANGUAGE_LUA_NAME_H
#define LANGUAGE_LUA_NAME_H

#include <stdint.h>

/* A call of a state, as the adapter walks them. */
struct lua_call {
    uintptr_t call, previous; // Where their records are now;
    uintptr_t function;       // where the value is that is called,
    intptr_t moved;           // and by how much what the records say of that is wrong.
    uintptr_t code;           // Where a function of Lua is in its code.
};

/* Set once: lua_getinfo. */
typedef int lua_name_getinfo_fn(void *l, const char *what, void *debug);
extern lua_name_getinfo_fn *lua_name_getinfo;

struct lua_proto;

/* The id of the call C of the state L, of a function of Lua that has the prototype PROTO, which has
 * SAID that of itself. */
unsigned lua_name_of_lua(uintptr_t l, const struct lua_call *c, uintptr_t proto,
                         const struct lua_proto *said);

/* Of the C function FUNCTION; 0 if it has no name. */
unsigned lua_name_of_c(uintptr_t l, const struct lua_call *c, uintptr_t function);

#endif
