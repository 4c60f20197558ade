/* counted_print.c: printf and scanf.
 *
 * Each function counts the strings of the program that it reads or writes, and the accesses through
 * its arguments. It calls the variant with a va_list. */
#include "access/counted_calls.h"
#include "access/counting.h"

/* Count the string that asprintf has allocated. */
static void
printed_new(char *const *to, int length)
{
    W(to, sizeof *to);
    if (length >= 0)
        W(*to, (size_t)length + 1);
}

/* Count the accesses of printf's arguments, one function for each character type of the format. */
static inline void
count_char(const char *format, va_list arguments)
{
    counted_format_prints(format, arguments);
}

static inline void
count_wchar_t(const wchar_t *format, va_list arguments)
{
    counted_format_prints_wide(format, arguments);
}

/* Define the variant with `...`, which passes its arguments to the variant with a va_list. */
#define VARIADIC(name, forward, type, parameters, arguments)                                       \
    EXPORT int counted_##name(COUNTED_UNPACK parameters const type *format, ...)                   \
    {                                                                                              \
        va_list list;                                                                              \
        int r;                                                                                     \
                                                                                                   \
        va_start(list, format);                                                                    \
        r = counted_##forward(COUNTED_UNPACK arguments format, list);                              \
        va_end(list);                                                                              \
        return r;                                                                                  \
    }

#define PRINT(name, forward, type, parameters, arguments, ...)                                     \
    EXPORT int counted_##forward(COUNTED_UNPACK parameters const type *format, va_list list)       \
    {                                                                                              \
        bool was;                                                                                  \
        int r;                                                                                     \
                                                                                                   \
        look();                                                                                    \
        count_##type(format, list);                                                                \
        was = counting_enter();                                                                    \
        r = counted_libc.forward(COUNTED_UNPACK arguments format, list);                           \
        counting_leave(was);                                                                       \
        __VA_ARGS__;                                                                               \
        return r;                                                                                  \
    }                                                                                              \
    VARIADIC(name, forward, type, parameters, arguments)
COUNTED_PRINTS(PRINT)

/* Count the input string before the call, because the call may overwrite it. */
#define SCAN(name, forward, parameters, arguments, ...)                                            \
    EXPORT int counted_##forward(COUNTED_UNPACK parameters const char *format, va_list list)       \
    {                                                                                              \
        va_list copy;                                                                              \
        bool was;                                                                                  \
        int r = 0;                                                                                 \
                                                                                                   \
        look();                                                                                    \
        __VA_ARGS__;                                                                               \
        va_copy(copy, list);                                                                       \
        was = counting_enter();                                                                    \
        r = counted_libc.forward(COUNTED_UNPACK arguments format, list);                           \
        counting_leave(was);                                                                       \
        counted_format_scans(format, r, copy);                                                     \
        va_end(copy);                                                                              \
        return r;                                                                                  \
    }                                                                                              \
    VARIADIC(name, forward, char, parameters, arguments)
COUNTED_SCANS(SCAN)
