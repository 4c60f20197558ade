/* counted_format.h: counts the arguments that printf reads and scanf writes according to a
 * format. */
#ifndef ACCESS_COUNTED_FORMAT_H
#define ACCESS_COUNTED_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* Count the accesses of printf with FORMAT through ARGUMENTS: reads, and the writes of %n. Call
 * before printf, with a copy of the arguments. */
void counted_format_prints(const char *format, va_list arguments);
void counted_format_prints_wide(const wchar_t *format, va_list arguments);

/* Count the writes of scanf with FORMAT through ARGUMENTS. CONVERSIONS is scanf's result. */
void counted_format_scans(const char *format, int conversions, va_list arguments);

#endif
