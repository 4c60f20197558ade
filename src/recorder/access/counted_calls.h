/* counted_calls.h: libc's functions that access the caller's memory, with the accesses counted. In
 * the library they have the names of libc's. */
#ifndef ACCESS_COUNTED_CALLS_H
#define ACCESS_COUNTED_CALLS_H

#include "access/counted_libc.h"

#define COUNTED_PROTOTYPE(result, name, parameters) result counted_##name parameters;
COUNTED_FUNCTIONS(COUNTED_PROTOTYPE)
#undef COUNTED_PROTOTYPE

int counted_snprintf(char *to, size_t size_bytes, const char *format, ...) PRINTF(3, 4);
int counted_sprintf(char *to, const char *format, ...) PRINTF(2, 3);
int counted___snprintf_chk(char *to, size_t size_bytes, int flag, size_t there_bytes,
                           const char *format, ...) PRINTF(5, 6);

#endif
