/* libs: -Wl,--no-as-needed -lscope_one -ldl -Wl,-rpath,$ORIGIN */
/* scope_first.cc: a host in C++, with a library that defines operators in front of libstdc++. */
#include "scope_hostxx.h"
