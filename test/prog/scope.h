/* scope.h: output without allocation or buffer, shared by the programs and libraries of scopes.sh.
 * Lines of several copies of libc thus stay in order. */
#ifndef SCOPE_H
#define SCOPE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define SHOWN __attribute__((noinline, visibility("default")))

__attribute__((format(printf, 1, 2), unused)) static void
say(const char *format, ...)
{
    char line[512];
    va_list list;
    int length;

    va_start(list, format);
    length = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (length < 0 || length >= (int)sizeof line || write(1, line, (size_t)length) != length)
        abort();
}

/* Hide P from the compiler, which therefore keeps the call that returned P. */
static inline void *
kept(void *p)
{
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

#endif
