/* libs: -ldl -Wl,-rpath,$ORIGIN */
/* scope_hidden.cc: a host in C++ whose operators new and delete have hidden visibility. */
#define PROVIDER "program"
#define PROVIDER_AS __attribute__((visibility("hidden")))
#include "scope_provider.h"

#include "scope_hostxx.h"
