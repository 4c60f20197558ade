/* stepper.h: the signals with which a program marks its position for its tracer. They are never
 * delivered. */
#ifndef INTERRUPT_STEP_H
#define INTERRUPT_STEP_H

#include <stdbool.h>

enum { MARK_BEGIN = 50, MARK_INNER = 51, MARK_END = 52 };

#endif
