/* lua_name.h: names of Lua's functions, as ids. Async-signal-safe; no function here allocates. */
#ifndef LANGUAGE_LUA_NAME_H
#define LANGUAGE_LUA_NAME_H

#include <stdint.h>

#include "base/base.h"
#include "language/lua_layout.h"

/* A call of a state during a walk. */
struct lua_call {
    uintptr_t call, previous;    // Present addresses of the call record and of the previous one,
    uintptr_t function;          // present address of the called value,
    intptr_t moved;              // and its distance from the address in the record.
    uintptr_t stack, stack_used; // Base of offsets in records, and bytes in use there. Base 0 =
                                 // records contain pointers.
    uintptr_t code;              // Position in the code of a Lua function.
};

/* Return the present address of the called value in the record at CALL, which belongs to the same
 * state as C; 0 if it is outside the stack. While the stack moves, some records may contain offsets
 * and others pointers. */
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

/* The function lua_getinfo. Set once. */
typedef int lua_name_getinfo_fn(void *l, const char *what, void *debug);
extern lua_name_getinfo_fn *lua_name_getinfo;

struct lua_proto;

/* Return the id of call C of state L. C calls a Lua function with the prototype PROTO, whose
 * description is SAID. */
unsigned lua_name_of_lua(uintptr_t l, const struct lua_call *c, uintptr_t proto,
                         const struct lua_proto *said);

/* Return the id of the C function FUNCTION; 0 if it has no name. */
unsigned lua_name_of_c(uintptr_t l, const struct lua_call *c, uintptr_t function);

#endif
