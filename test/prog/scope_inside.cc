/* libs: -ldl -static-libstdc++ -static-libgcc -Wl,-rpath,$ORIGIN */
/* scope_inside.cc: a host in C++ with a static libstdc++. */
#include "scope_hostxx.h"
