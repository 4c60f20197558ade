/* lua_code.h: finds Lua's code, and the starts of its functions. */
#ifndef LANGUAGE_LUA_CODE_H
#define LANGUAGE_LUA_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Find the code of the Lua that contains the public function FUNCTION, and report it to the
 * recorder. Call once, before all other functions here. */
void lua_code_find(uintptr_t function);

/* Return true if Lua's object exports a function NAME. dlsym would allocate, and the allocation
 * would be recorded as the program's. */
bool lua_code_exports(const char *name);

/* Return the start of the function that contains the call before PC, from its unwind entry; 0 if no
 * entry covers it. Cached, so repeated calls are fast. Async-signal-safe. */
uintptr_t lua_code_start(uintptr_t pc);

/* Results of lua_code_find: ranges of whole functions, in ascending order. */
struct lua_code_range {
    uintptr_t start, end;
};
enum { LUA_CODE_RANGES = 24 };
extern struct lua_code_range lua_code_ranges[LUA_CODE_RANGES];
extern size_t lua_code_range_count;

/* Return the bounds of luaV_execute, by far the largest function of any Lua. It is the largest
 * function in Lua's code that lua_code_start has returned so far. Returns zeros if none was large
 * enough yet. */
struct lua_code_range lua_code_execute(void);

/* Return true if PC is in Lua's code. */
static inline bool
lua_code_has(uintptr_t pc)
{
    for (size_t i = 0; i < lua_code_range_count; i++)
        if (pc >= lua_code_ranges[i].start && pc < lua_code_ranges[i].end)
            return true;
    return false;
}

#endif
