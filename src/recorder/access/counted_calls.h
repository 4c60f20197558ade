/* counted_calls.h: replacements of libc's functions that access the caller's memory, which count
 * these accesses. In the library they have libc's names. */
#ifndef ACCESS_COUNTED_CALLS_H
#define ACCESS_COUNTED_CALLS_H

#include <stdarg.h>
#include <stddef.h>

#include "access/counted_libc.h"

#define COUNTED_PROTOTYPE(result, name, parameters, ...) result counted_##name parameters;
COUNTED_ROWS(COUNTED_PROTOTYPE)
COUNTED_OBJECTS(COUNTED_PROTOTYPE)
COUNTED_BY_HAND(COUNTED_PROTOTYPE)
#undef COUNTED_PROTOTYPE

#define COUNTED_NUMBER_PROTOTYPE(result, name, type)                                               \
    result counted_##name(const type *s, type **ret_end, int base);
COUNTED_NUMBERS(COUNTED_NUMBER_PROTOTYPE)
#undef COUNTED_NUMBER_PROTOTYPE

#define COUNTED_REAL_PROTOTYPE(result, name, type)                                                 \
    result counted_##name(const type *s, type **ret_end);
COUNTED_REALS(COUNTED_REAL_PROTOTYPE)
#undef COUNTED_REAL_PROTOTYPE

#define COUNTED_PRINT_PROTOTYPE(name, forward, type, parameters, ...)                              \
    int counted_##forward(COUNTED_UNPACK parameters const type *format, va_list list);             \
    int counted_##name(COUNTED_UNPACK parameters const type *format, ...);
COUNTED_PRINTS(COUNTED_PRINT_PROTOTYPE)
#undef COUNTED_PRINT_PROTOTYPE

#define COUNTED_SCAN_PROTOTYPE(name, forward, parameters, ...)                                     \
    int counted_##forward(COUNTED_UNPACK parameters const char *format, va_list list);             \
    int counted_##name(COUNTED_UNPACK parameters const char *format, ...);
COUNTED_SCANS(COUNTED_SCAN_PROTOTYPE)
#undef COUNTED_SCAN_PROTOTYPE

/* --- counted_format.c: counts the arguments that printf reads and scanf writes according to a
 * format. */

/* Count the accesses of printf with FORMAT through ARGUMENTS: reads, and the writes of %n. Call
 * before printf, with a copy of the arguments. */
void counted_format_prints(const char *format, va_list arguments);
void counted_format_prints_wide(const wchar_t *format, va_list arguments);

/* Count the writes of scanf with FORMAT through ARGUMENTS. CONVERSIONS is scanf's result. */
void counted_format_scans(const char *format, int conversions, va_list arguments);

#endif
