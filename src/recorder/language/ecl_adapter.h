/* ecl_adapter.h: how the files of the ECL adapter work together. */
#ifndef LANGUAGE_ECL_ADAPTER_H
#define LANGUAGE_ECL_ADAPTER_H

#include <ecl/ecl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "language/gc_record.h"

/* --- ecl_types.c: the Lisp type of an allocation of ECL; see ecl_types.c. */

/* Hint for the next allocation. A caller saves the previous hint and restores it at the end. */
struct ecl_hint {
    unsigned char kind, count;
    const void *frame; // C frame of the function that set the hint; NULL = no hint.
};

/* Set the hint until ecl_types_end: if OBJECT, the next allocation is an object of TYPE, else it is
 * a part of such an object. FRAME is the caller's C frame. Return the previous hint. */
struct ecl_hint ecl_types_begin(int type, bool object, const void *frame);
void ecl_types_end(struct ecl_hint before);

/* The members `kinds` and `now` of ECL's struct gc_runtime. */
extern const char *const ecl_type_names[];
struct gc_now ecl_types_now(void);

/* --- ecl_code.c: maps compiled code to Lisp functions; see ecl_code.c. */

/* Record that the C function ENTRY implements the Lisp function NAME. BLOCK is ECL's code block
 * that contains ENTRY. Must not be called during an event. */
void ecl_code_add(const void *entry, cl_object name, cl_object block);

/* Return true if ECL has begun to create functions. ECL's thread data is valid from then on. */
bool ecl_code_begun(void);

/* Return the id of the function that contains PC, a return address; 0 if unknown. Thread-safe and
 * async-signal-safe. */
unsigned ecl_code_of(unsigned long pc);

/* --- ecl_names.c: names of ECL's Lisp functions as ids of the recorder; see ecl_names.c.
 *
 * Thread-safe and async-signal-safe. */

/* Return the id for a function named TEXT. */
unsigned ecl_name_of_text(const char *text);

/* Return the id for a function's NAME: a symbol, a list (SETF X), or NIL for a lambda. */
unsigned ecl_name_of(cl_object name);

/* Return the id for FUNCTION, an element of ECL's own list of frames; 0 = none. Cached until the
 * next collection. */
unsigned ecl_name_of_function(cl_object function);

/* Invalidate the whole cache after a collection, or only the entry of FUNCTION when ECL frees it
 * outside a collection. */
void ecl_names_invalidate(void);
void ecl_names_invalidate_one(const void *function);

/* --- ecl_symbols.c: names of local functions in a file that ECL has compiled; see
 * ecl_symbols.c. */

/* Callbacks. FUNCTION receives each local function: its address VALUE, relative to the file's load
 * address, and its NAME in Lisp. PART receives each part that the C compiler has split off a
 * function: the part's address VALUE, and the address WHOLE of the function. */
typedef void ecl_symbols_function(void *arg, uint64_t value, const char *name);
typedef void ecl_symbols_part(void *arg, uint64_t value, uint64_t whole);

/* Call FUNCTION and PART for the symbols in FILE, which may have any content. FILE must be aligned
 * to 8 bytes. */
void ecl_symbols_read(const void *file, size_t size, ecl_symbols_function *function,
                      ecl_symbols_part *part, void *arg);

#endif
