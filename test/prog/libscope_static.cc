/* libs: -static-libstdc++ -static-libgcc */
/* libscope_static.cc: a plug-in in C++ with a static libstdc++. */
#include "scope_use.h"
