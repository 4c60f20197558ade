/* hook_check.h: refuse hooks of variables before the program starts. */
#ifndef LAUNCH_HOOK_CHECK_H
#define LAUNCH_HOOK_CHECK_H

#include "launch/hook_kinds.h"

/* Look up LIST's symbols in PROGRAM and its initial libraries. Returns 0, or HEAPTAP_USAGE with ERR
 * set if one of them defines a symbol as anything but a function. If a preset added such a symbol,
 * it is removed from LIST instead. */
int hook_check(struct hook_list *list, const char *program, struct arena *arena, struct err *err);

#endif
