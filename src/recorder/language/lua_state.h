/* lua_state.h: finds the states of Lua that run in a thread. */
#ifndef LANGUAGE_LUA_STATE_H
#define LANGUAGE_LUA_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "heaptap/language.h"
#include "language/lua_layout.h"

/* Initialise; RESUME is the address of lua_resume. Call once, before all other functions here. */
void lua_state_begin(uintptr_t resume);

/* Implement `look` of heaptap/language.h. Its notes are the bounds of the frames that identify the
 * running states: pairs, innermost first, terminated by 0. */
void lua_state_probe(const struct heaptap_native *n, size_t count,
                     unsigned long notes[HEAPTAP_NOTES]);
enum { LUA_STATE_NOTES = (HEAPTAP_NOTES - 2) / 2 };

/* Return the state that the frame between LOW and HIGH identifies at present; 0 if there is
 * none. */
uintptr_t lua_state_in(uintptr_t low, uintptr_t high);

/* Distance from the end of such a frame down to the word with the state; 0 = unknown. Atomic. */
extern uintptr_t lua_state_off;

/* Return true if the frame between LOW and HIGH still identifies the state L. */
static inline bool
lua_state_is(uintptr_t l, uintptr_t low, uintptr_t high)
{
    uintptr_t off = __atomic_load_n(&lua_state_off, __ATOMIC_RELAXED), jump;

    if (l == 0 || high - low <= off || lua_word(high - off) != l)
        return false;
    jump = lua_word(l + lua_layout->state_jump);
    return jump > low && jump < high && *(const unsigned char *)(l + LUA_TYPE) == LUA_IS_THREAD;
}

#endif
