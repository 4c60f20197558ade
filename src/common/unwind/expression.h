/* expression.h: expressions of the unwind tables. Private to src/common/unwind. */
#ifndef UNWIND_EXPRESSION_H
#define UNWIND_EXPRESSION_H

#include "base/base.h"
#include "unwind/cfi_cursor.h"
#include "unwind/registers.h"

/* Evaluate CODE over the callee's registers R. FIRST, if not NULL, is on the stack at the start
 * (the CFA, for the rules of registers). Return false if the expression is malformed, needs an
 * unknown register, reads outside BOUNDS or runs too long. */
bool expression_eval(struct cursor code, const struct unwind_registers *r,
                     const struct unwind_bounds *bounds, const uint64_t *first,
                     uint64_t *ret_value);

#endif
