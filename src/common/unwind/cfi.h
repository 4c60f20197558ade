/* cfi.h: finds the row of the unwind table (call frame information) for an address. Private to
 * src/common/unwind. */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include "base/base.h"
#include "unwind/cfi_cursor.h"
#include "unwind/cfi_program.h"
#include "unwind/object.h"
#include "unwind/registers.h"

enum cfi_result {
    CFI_FOUND,
    CFI_NONE, // No record covers the address.
    CFI_BAD,  // A record covers the address, but is malformed or uses an unsupported feature.
};

/* Find the record of the function that covers LOOKUP in OBJECT. All functions here are
 * signal-safe. */
enum cfi_result cfi_find(uint64_t lookup, const struct unwind_object *object,
                         struct cfi_function *ret_function);

/* Find the function that covers LOOKUP (cfi_find), and compute its row at LOOKUP (cfi_run). */
enum cfi_result cfi_row_at(uint64_t lookup, const struct unwind_object *object,
                           struct cfi_row *ret_row);

/* --- expression.c: expressions of the unwind tables. Private to src/common/unwind. */

/* Evaluate CODE over the callee's registers R. FIRST, if not NULL, is on the stack at the start
 * (the CFA, for the rules of registers). Return false if the expression is malformed, needs an
 * unknown register, reads outside BOUNDS or runs too long. */
bool expression_eval(struct cursor code, const struct unwind_registers *r,
                     const struct unwind_bounds *bounds, const uint64_t *first,
                     uint64_t *ret_value);

#endif
