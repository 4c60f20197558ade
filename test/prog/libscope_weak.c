/* cflags: -fno-builtin */
/* libscope_weak.c: a plug-in in C that has weak references. */
#include "scope_weak.h"
