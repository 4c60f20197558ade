/* ecl_types.h: the Lisp type of an allocation of ECL; see ecl_types.c. */
#ifndef LANGUAGE_ECL_TYPES_H
#define LANGUAGE_ECL_TYPES_H

#include <ecl/ecl.h>
#include <stdbool.h>

#include "language/gc_record.h"

/* Hint for the next allocation. A caller saves the previous hint and restores it at the end. */
struct ecl_hint {
    unsigned char kind, count;
    const void *frame; // C frame of the function that left the hint; NULL = no hint.
};

/* Leave a hint until ecl_types_end: the next allocation is an object of TYPE if OBJECT, else a part
 * of one. FRAME is the caller's C frame. Return the previous hint. */
struct ecl_hint ecl_types_begin(int type, bool object, const void *frame);
void ecl_types_end(struct ecl_hint before);

/* Members of struct gc_runtime. */
extern const char *const ecl_type_names[];
struct gc_now ecl_types_now(void);

#endif
