/* counted_calls.h: libc's functions that access the caller's memory, with the accesses counted. In
 * the library they have the names of libc's. */
#ifndef ACCESS_COUNTED_CALLS_H
#define ACCESS_COUNTED_CALLS_H

#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/base.h"

/* X(result, name, parameters) of the functions that are called when these have counted. */
#define COUNTED_FUNCTIONS(X)                                                                       \
    X(void *, memcpy, (void *, const void *, size_t))                                              \
    X(void *, memmove, (void *, const void *, size_t))                                             \
    X(void *, mempcpy, (void *, const void *, size_t))                                             \
    X(void *, memset, (void *, int, size_t))                                                       \
    X(int, memcmp, (const void *, const void *, size_t))                                           \
    X(int, bcmp, (const void *, const void *, size_t))                                             \
    X(void *, memchr, (const void *, int, size_t))                                                 \
    X(void *, memrchr, (const void *, int, size_t))                                                \
    X(size_t, strlen, (const char *))                                                              \
    X(size_t, strnlen, (const char *, size_t))                                                     \
    X(char *, strcpy, (char *, const char *))                                                      \
    X(char *, stpcpy, (char *, const char *))                                                      \
    X(char *, strncpy, (char *, const char *, size_t))                                             \
    X(char *, strcat, (char *, const char *))                                                      \
    X(char *, strncat, (char *, const char *, size_t))                                             \
    X(int, strcmp, (const char *, const char *))                                                   \
    X(int, strncmp, (const char *, const char *, size_t))                                          \
    X(int, strcasecmp, (const char *, const char *))                                               \
    X(int, strncasecmp, (const char *, const char *, size_t))                                      \
    X(char *, strchr, (const char *, int))                                                         \
    X(char *, strrchr, (const char *, int))                                                        \
    X(char *, strstr, (const char *, const char *))                                                \
    X(ssize_t, read, (int, void *, size_t))                                                        \
    X(ssize_t, pread, (int, void *, size_t, off_t))                                                \
    X(ssize_t, pread64, (int, void *, size_t, off_t))                                              \
    X(ssize_t, write, (int, const void *, size_t))                                                 \
    X(ssize_t, pwrite, (int, const void *, size_t, off_t))                                         \
    X(ssize_t, pwrite64, (int, const void *, size_t, off_t))                                       \
    X(ssize_t, recv, (int, void *, size_t, int))                                                   \
    X(ssize_t, send, (int, const void *, size_t, int))                                             \
    X(size_t, fread, (void *, size_t, size_t, FILE *))                                             \
    X(size_t, fwrite, (const void *, size_t, size_t, FILE *))                                      \
    X(char *, fgets, (char *, int, FILE *))                                                        \
    X(int, vsnprintf, (char *, size_t, const char *, va_list))                                     \
    X(int, vsprintf, (char *, const char *, va_list))                                              \
    X(void *, __memcpy_chk, (void *, const void *, size_t, size_t))                                \
    X(void *, __memmove_chk, (void *, const void *, size_t, size_t))                               \
    X(void *, __memset_chk, (void *, int, size_t, size_t))                                         \
    X(char *, __strcpy_chk, (char *, const char *, size_t))                                        \
    X(char *, __strcat_chk, (char *, const char *, size_t))                                        \
    X(int, __vsnprintf_chk, (char *, size_t, int, size_t, const char *, va_list))

#define COUNTED_PROTOTYPE(result, name, parameters) result counted_##name parameters;
COUNTED_FUNCTIONS(COUNTED_PROTOTYPE)
#undef COUNTED_PROTOTYPE

int counted_snprintf(char *to, size_t size_bytes, const char *format, ...) PRINTF(3, 4);
int counted_sprintf(char *to, const char *format, ...) PRINTF(2, 3);
int counted___snprintf_chk(char *to, size_t size_bytes, int flag, size_t there_bytes,
                           const char *format, ...) PRINTF(5, 6);

#endif
