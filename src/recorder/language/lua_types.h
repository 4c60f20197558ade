/* lua_types.h: the types of Lua's objects, as labels; see lua_types.c. */
#ifndef LANGUAGE_LUA_TYPES_H
#define LANGUAGE_LUA_TYPES_H

#include <stdint.h>

/* Look whether types are asked for. Once, when the layout is known. */
void lua_types_begin(void);

/* From now on blocks of the state that has the allocator at PLACE are labelled with their types, if
 * that is asked for. Returns the function that the program has given it. In the thread that runs
 * the state, where it allocates. */
uintptr_t lua_types_take(uintptr_t *place);

/* The program's allocator that FUNCTION has taken the place of; FUNCTION itself if it has not. */
uintptr_t lua_types_given(uintptr_t function);

#endif
