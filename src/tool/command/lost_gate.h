/* lost_gate.h: `core --leaks --fail-over`: judge unreachable blocks. */
#ifndef COMMAND_LOST_GATE_H
#define COMMAND_LOST_GATE_H

#include "analyse/limit_check.h"
#include "view/memory_view.h"

/* Compare the unreachable blocks of M, whose profile is P, with the limit in LIMITS, and print why
 * they exceed it or cannot be judged. Return 0, EXIT_FINDINGS or EXIT_BAD_INPUT. */
int lost_gate_check(const struct limits *limits, const struct memory_view *m,
                    const struct profile *p);

#endif
