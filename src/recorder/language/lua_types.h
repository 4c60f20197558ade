/* lua_types.h: the types of Lua's objects, as labels; see lua_types.c. */
#ifndef LANGUAGE_LUA_TYPES_H
#define LANGUAGE_LUA_TYPES_H

#include <stdint.h>

/* Read from the environment if types are requested. Call once, after lua_layout_find. */
void lua_types_begin(void);

/* Label later blocks of a state with their types, if types are requested. PLACE is the address of
 * the state's allocator function. Return the allocator function that the program gave the state.
 * Call in the thread that runs the state, inside an allocation. */
uintptr_t lua_types_take(uintptr_t *place);

/* Return the program's allocator function that FUNCTION replaced, or FUNCTION if it replaced
 * none. */
uintptr_t lua_types_given(uintptr_t function);

#endif
