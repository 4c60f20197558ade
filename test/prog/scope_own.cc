/* cflags: -Wno-attributes */
/* libs: -ldl -rdynamic -Wl,-rpath,$ORIGIN */
/* scope_own.cc: a host in C++ with operators of its own, which all others get. */
#define PROVIDER "program"
#include "scope_provider.h"

#include "scope_hostxx.h"
