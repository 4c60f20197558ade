/* lua_frames.h: the calls of the states that run, as frames; contracts in heaptap/language.h. */
#ifndef LANGUAGE_LUA_FRAMES_H
#define LANGUAGE_LUA_FRAMES_H

#include "heaptap/language.h"

/* Set once: the id of C functions without a name. */
extern unsigned lua_frames_nameless;

size_t lua_frames_noted(struct heaptap_frame *to, size_t max,
                        const unsigned long notes[HEAPTAP_NOTES]);
void lua_frames_place(struct heaptap_frame *f, size_t count, const struct heaptap_native *n,
                      size_t native_count);
int lua_frames_place_inner(struct heaptap_frame *f, size_t count, const struct heaptap_native *n,
                           size_t native_count);

#endif
