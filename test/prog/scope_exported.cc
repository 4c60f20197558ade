/* cflags: -rdynamic */
/* libs: -ldl -static-libstdc++ -static-libgcc -Wl,-rpath,$ORIGIN */
/* scope_exported.cc: a host in C++ with a static libstdc++, whose operators it exports to all other
 * objects. */
#include "scope_hostxx.h"
