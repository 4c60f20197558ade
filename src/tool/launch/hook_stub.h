/* hook_stub.h: the library of stubs that makes the recorder see functions by chosen names. */
#ifndef LAUNCH_HOOK_STUB_H
#define LAUNCH_HOOK_STUB_H

#include "launch/hook_kinds.h"

/* Write the library for LIST into a new file; *RET_PATH, in ARENA, is to be preloaded in front of
 * the recorder's LIBRARY, and belongs to the caller. It is put where code may be mapped, into
 * DIRECTORY if nowhere else. HEAPTAP_BAD_INPUT with ERR set if that fails. */
int hook_stub_write(const struct hook_list *list, const char *library, const char *directory,
                    struct arena *arena, const char **ret_path, struct err *err);

/* Which functions were called, by the marks that the recorder left in the library at PATH: a byte
 * for each of the COUNT functions of its list, 1 = it was called. False if it cannot be read. */
bool hook_stub_read(const char *path, size_t count, uint8_t *ret_called);

#endif
