/* state.c: the pointer to the recorder's state. See state.h. */
#include "platform/state.h"

struct state *state;

__thread struct tls tls __attribute__((tls_model("initial-exec")));
