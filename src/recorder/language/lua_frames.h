/* lua_frames.h: turns the calls of the running states into frames; contracts in
 * heaptap/language.h. */
#ifndef LANGUAGE_LUA_FRAMES_H
#define LANGUAGE_LUA_FRAMES_H

#include "heaptap/language.h"

/* Id for C functions without a name. Set once. */
extern unsigned lua_frames_unnamed;

extern const size_t lua_frames_memo_bytes;
size_t lua_frames_again(struct heaptap_frame *end, void *memo,
                        const unsigned long notes[HEAPTAP_NOTES], size_t *ret_same);
void lua_frames_place(struct heaptap_frame *f, size_t count, const struct heaptap_native *n,
                      size_t native_count);
int lua_frames_place_inner(struct heaptap_frame *f, size_t count, const struct heaptap_native *n,
                           size_t native_count);

#endif
