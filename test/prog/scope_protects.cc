/* libs: -Wl,--no-as-needed -lscope_protected -ldl -Wl,-rpath,$ORIGIN */
/* scope_protects.cc: a host in C++, with a library whose operators have protected visibility. */
#include "scope_hostxx.h"
