/* libs: -Wl,--no-as-needed -lscope_symbolic -ldl -Wl,-rpath,$ORIGIN */
/* scope_binds.cc: a host in C++, with a library bound to its own operators. */
#include "scope_hostxx.h"
