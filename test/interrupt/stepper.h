/* stepper.h: the signals by which a program tells its tracer where it is. They are never
 * delivered. */
#ifndef INTERRUPT_STEP_H
#define INTERRUPT_STEP_H

#include <stdbool.h>

enum { MARK_BEGIN = 50, MARK_INNER = 51, MARK_END = 52 };

#endif
