/* cflags: -fno-pie -no-pie */
/* libs: -ldl -Wl,-rpath,$ORIGIN */
/* scope_nopie.cc: a host in C++ at fixed addresses. Its symbol table has values for operators that
 * it only refers to, and all objects use these values as the operators' addresses. */
#include "scope_hostxx.h"
