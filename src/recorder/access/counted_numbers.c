/* counted_numbers.c: replaces functions that parse numbers and stop where a number ends. Only libc
 * can return that position, so these functions always pass a pointer for it. */
#include <stdlib.h>

#include "access/counted_calls.h"
#include "access/counting.h"

/* Count a read of the number at S, up to END, and of the character at END. */
#define NUMBER_ENDS(s, end, type)                                                                  \
    R(s, ((size_t)((end) - (s)) + 1) * sizeof(type))

#define NUMBER_BODY(result, type, call)                                                            \
    type *end = NULL;                                                                              \
    result r;                                                                                      \
    bool was;                                                                                      \
                                                                                                   \
    look();                                                                                        \
    was = counting_enter();                                                                        \
    r = call;                                                                                      \
    counting_leave(was);                                                                           \
    if (end == NULL)                                                                               \
        return r; /* No such base: the program's pointer stays unchanged. */                       \
    if (ret_end != NULL) {                                                                         \
        *ret_end = end;                                                                            \
        W(ret_end, sizeof *ret_end);                                                               \
    }                                                                                              \
    NUMBER_ENDS(s, end, type);                                                                     \
    return r;

#define NUMBER(result, name, type)                                                                 \
    EXPORT result counted_##name(const type *s, type **ret_end, int base)                          \
    {                                                                                              \
        NUMBER_BODY(result, type, counted_libc.name(s, &end, base))                                \
    }
COUNTED_NUMBERS(NUMBER)

#define REAL(result, name, type)                                                                   \
    EXPORT result counted_##name(const type *s, type **ret_end)                                    \
    {                                                                                              \
        NUMBER_BODY(result, type, counted_libc.name(s, &end))                                      \
    }
COUNTED_REALS(REAL)

/* Define atoi and similar functions. They do not return the end of the number, so call a related
 * function that does. */
#define PLAIN(result, name, measure)                                                               \
    EXPORT result counted_##name(const char *s)                                                    \
    {                                                                                              \
        char *end;                                                                                 \
        result r;                                                                                  \
        bool was;                                                                                  \
                                                                                                   \
        look();                                                                                    \
        was = counting_enter();                                                                    \
        r = counted_libc.name(s);                                                                  \
        measure;                                                                                   \
        counting_leave(was);                                                                       \
        NUMBER_ENDS(s, end, char);                                                                 \
        return r;                                                                                  \
    }
PLAIN(int, atoi, counted_libc.strtol(s, &end, 10))
PLAIN(long, atol, counted_libc.strtol(s, &end, 10))
PLAIN(long long, atoll, counted_libc.strtoll(s, &end, 10))
PLAIN(double, atof, counted_libc.strtod(s, &end))
