/* cfi.h: call frame information: from an address to one row of the unwind table. Private to
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
    CFI_BAD,  // There is a record, but it is malformed or uses an unsupported feature.
};

/* Find the record of the function that covers LOOKUP in OBJECT. This function and the others below
 * are signal-safe. */
enum cfi_result cfi_find(uint64_t lookup, const struct unwind_object *object,
                         struct cfi_function *ret_function);

/* Both in one. */
enum cfi_result cfi_row_at(uint64_t lookup, const struct unwind_object *object,
                           struct cfi_row *ret_row);

#endif
