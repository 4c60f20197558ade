/* cflags: -Wno-attributes */
/* libs: -ldl -rdynamic -Wl,-rpath,$ORIGIN */
/* scope_own.cc: a host in C++ that exports its operators new and delete to all objects. */
#define PROVIDER "program"
#include "scope_provider.h"

#include "scope_hostxx.h"
