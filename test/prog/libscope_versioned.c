/* libs: -Wl,--version-script=test/prog/scope_versions.map */
/* libscope_versioned.c: operators with a version other than libstdc++'s. */
#define PROVIDER "versioned"
#include "scope_provider.h"
