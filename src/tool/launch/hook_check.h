/* hook_check.h: refuse hooks of variables before the program starts. */
#ifndef LAUNCH_HOOK_CHECK_H
#define LAUNCH_HOOK_CHECK_H

#include "launch/hook_kinds.h"

/* Look LIST's symbols up in PROGRAM and in the libraries that it starts with. HEAPTAP_USAGE, with
 * ERR set, if one of them defines a symbol as anything but a function. Remove such a symbol from
 * LIST instead if it belongs to a preset. */
int hook_check(struct hook_list *list, const char *program, struct arena *arena, struct err *err);

#endif
