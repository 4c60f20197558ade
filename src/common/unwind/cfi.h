/* cfi.h: call frame information: finds the row of the unwind table for an address. Private to
 * src/common/unwind.
 */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include "base/base.h"
#include "unwind/cfi_program.h"
#include "unwind/object.h"

enum cfi_result {
    CFI_FOUND,
    CFI_NONE, // Nothing covers the address.
    CFI_BAD,  // A record covers the address, but is malformed or uses an unsupported feature.
};

/* Find the record of the function that covers LOOKUP in OBJECT. All functions here are
 * signal-safe. */
enum cfi_result cfi_find(uint64_t lookup, const struct unwind_object *object,
                         struct cfi_function *ret_function);

/* Find the function that covers LOOKUP and compute its row there: cfi_find, then cfi_run. */
enum cfi_result cfi_row_at(uint64_t lookup, const struct unwind_object *object,
                           struct cfi_row *ret_row);

#endif
