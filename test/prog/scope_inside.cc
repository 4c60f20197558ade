/* libs: -ldl -static-libstdc++ -static-libgcc -Wl,-rpath,$ORIGIN */
/* scope_inside.cc: a host in C++ with libstdc++ inside. */
#include "scope_hostxx.h"
