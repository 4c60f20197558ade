/* libs: -static-libstdc++ -static-libgcc */
/* libscope_static.cc: a plug-in in C++ with libstdc++ inside. */
#include "scope_use.h"
