/* state.c: where the recorder's state hangs. See state.h for what it is. */
#include "platform/state.h"

struct state *state;

__thread struct tls tls __attribute__((tls_model("initial-exec")));
