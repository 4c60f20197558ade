/* counted_rows.c: a function for each row of counted_table.h. It has the name of libc's in the
 * library, as those of counted_calls.c have.
 */
#include "access/counted_calls.h"
#include "access/counting.h"

#define ROW(result, name, parameters, arguments, ...)                                              \
    EXPORT result counted_##name parameters                                                        \
    {                                                                                              \
        result r;                                                                                  \
        bool was;                                                                                  \
                                                                                                   \
        look();                                                                                    \
        was = counting_enter();                                                                    \
        r = counted_libc.name arguments;                                                           \
        counting_leave(was);                                                                       \
        __VA_ARGS__;                                                                               \
        return r;                                                                                  \
    }
COUNTED_ROWS(ROW)
