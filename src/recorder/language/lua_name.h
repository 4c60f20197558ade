/* lua_name.h: the names of functions of Lua, as ids. Signal-safe; no function here allocates. */
#ifndef LANGUAGE_LUA_NAME_H
#define LANGUAGE_LUA_NAME_H

#include <stdint.h>

#include "base/base.h"
#include "language/lua_layout.h"

/* A call of a state, as the adapter walks them. */
struct lua_call {
    uintptr_t call, previous;    // Where their records are now;
    uintptr_t function;          // where the value is that is called,
    intptr_t moved;              // and the error of that address in the record.
    uintptr_t stack, stack_used; // Into what, if they say offsets, and how many bytes; or 0.
    uintptr_t code;              // Where a function of Lua is in its code.
};

/* Where the value is that is called in the record at CALL, of the state that C is of; 0 if that
 * would be outside of the stack. Some records may have offsets while others have pointers. */
static inline uintptr_t
lua_call_function(const struct lua_layout *y, const struct lua_call *c, uintptr_t call)
{
    uintptr_t function = lua_word(call + y->call_function);

    if (unlikely(c->stack != 0)) {
        function -= function >= c->stack ? c->stack : 0;
        if (function >= c->stack_used)
            return 0;
        function += c->stack;
    }
    return function + (uintptr_t)c->moved;
}

/* Set once: lua_getinfo. */
typedef int lua_name_getinfo_fn(void *l, const char *what, void *debug);
extern lua_name_getinfo_fn *lua_name_getinfo;

struct lua_proto;

/* Return the id of the call C of the state L, of a Lua function with the prototype PROTO, which
 * describes itself as SAID. */
unsigned lua_name_of_lua(uintptr_t l, const struct lua_call *c, uintptr_t proto,
                         const struct lua_proto *said);

/* Return the id of the C function FUNCTION; 0 if it has no name. */
unsigned lua_name_of_c(uintptr_t l, const struct lua_call *c, uintptr_t function);

#endif
