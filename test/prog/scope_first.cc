/* libs: -Wl,--no-as-needed -lscope_one -ldl -Wl,-rpath,$ORIGIN */
/* scope_first.cc: a host in C++, in whose scope a library with operators of its own comes before
 * libstdc++. */
#include "scope_hostxx.h"
