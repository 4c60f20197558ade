/* lua_state.h: which states of Lua run in a thread. */
#ifndef LANGUAGE_LUA_STATE_H
#define LANGUAGE_LUA_STATE_H

#include <stdint.h>

#include "heaptap/language.h"

/* lua_resume begins at RESUME. Called once, before anything else here. */
void lua_state_begin(uintptr_t resume);

/* `look` and what it notes: pairs of the bounds of frames that tell which state runs, innermost
 * first, ended by 0. */
void lua_state_look(const struct heaptap_native *n, size_t count,
                    unsigned long notes[HEAPTAP_NOTES]);
enum { LUA_STATE_NOTES = (HEAPTAP_NOTES - 2) / 2 };

/* The state that the frame between LOW and HIGH tells of; 0 if it tells of none now. */
uintptr_t lua_state_in(uintptr_t low, uintptr_t high);

#endif
