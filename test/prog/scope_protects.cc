/* libs: -Wl,--no-as-needed -lscope_protected -ldl -Wl,-rpath,$ORIGIN */
/* scope_protects.cc: the same with a library whose operators are protected. */
#include "scope_hostxx.h"
