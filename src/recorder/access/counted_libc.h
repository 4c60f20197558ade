/* counted_libc.h: libc's own functions of the names that counted_calls.c has. */
#ifndef ACCESS_COUNTED_LIBC_H
#define ACCESS_COUNTED_LIBC_H

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

struct counted_libc {
#define COUNTED_MEMBER(result, name, parameters) result(*name) parameters;
    COUNTED_FUNCTIONS(COUNTED_MEMBER)
#undef COUNTED_MEMBER
};

/* A member that libc does not have, or that is not found yet, is NULL. */
extern struct counted_libc counted_libc;

extern uint32_t counted_libc_found; // Atomic: need not be looked for any more.

/* Look for them. */
void counted_libc_find(void);

/* Do libc's own calls of these functions come to us as well? */
extern const bool counted_libc_comes_here;

#endif
