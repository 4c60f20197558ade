/* hook_stub.h: library of stubs, through which the recorder intercepts functions of chosen
 * names. */
#ifndef LAUNCH_HOOK_STUB_H
#define LAUNCH_HOOK_STUB_H

#include "launch/hook_kinds.h"

/* Write the library for LIST into a new file. *RET_PATH, from ARENA, must be preloaded before the
 * recorder's LIBRARY; the caller removes the file. It is created where code may be mapped, in
 * DIRECTORY as a last resort. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
int hook_stub_write(const struct hook_list *list, const char *library, const char *directory,
                    struct arena *arena, const char **ret_path, struct err *err);

/* Read the marks that the recorder left in the library at PATH into RET_CALLED: one byte for each
 * of its COUNT functions, 1 = called. Return false if they cannot be read. */
bool hook_stub_read(const char *path, size_t count, uint8_t *ret_called);

#endif
