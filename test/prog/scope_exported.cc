/* cflags: -rdynamic */
/* libs: -ldl -static-libstdc++ -static-libgcc -Wl,-rpath,$ORIGIN */
/* scope_exported.cc: a host in C++ with libstdc++ inside, whose operators it exports to all
 * others. */
#include "scope_hostxx.h"
