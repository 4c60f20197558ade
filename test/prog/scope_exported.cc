/* cflags: -rdynamic */
/* libs: -ldl -static-libstdc++ -static-libgcc -Wl,-rpath,$ORIGIN */
/* scope_exported.cc: a host in C++ with libstdc++ inside, whose operators all others get. */
#include "scope_hostxx.h"
