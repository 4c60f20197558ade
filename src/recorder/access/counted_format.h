/* counted_format.h: the arguments that a format has printf read or scanf write. */
#ifndef ACCESS_COUNTED_FORMAT_H
#define ACCESS_COUNTED_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* Count what printf reads of ARGUMENTS by FORMAT, and what it writes to them (%n). Call it before
 * printf, with a copy of the arguments. */
void counted_format_prints(const char *format, va_list arguments);
void counted_format_prints_wide(const wchar_t *format, va_list arguments);

/* Count what scanf has written to ARGUMENTS by FORMAT when it has made CONVERSIONS. */
void counted_format_scans(const char *format, int conversions, va_list arguments);

#endif
