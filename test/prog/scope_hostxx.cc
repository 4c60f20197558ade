/* libs: -ldl -Wl,-rpath,$ORIGIN */
/* scope_hostxx.cc: a host in C++: libstdc++ is in the scope of the program. */
#include "scope_hostxx.h"
