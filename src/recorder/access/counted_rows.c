/* counted_rows.c: defines a function for each row of counted_table.h and counted_objects.h. In the
 * library it has libc's name, like the functions of counted_calls.c. */
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

/* Count a read and a write of the whole object *O. */
#define OBJECT(o)                                                                                  \
    (R((const void *)(uintptr_t)(o), sizeof *(o)), W((const void *)(uintptr_t)(o), sizeof *(o)))
/* Count a read of *A. A may be NULL. */
#define ATTRIBUTES(a) R(a, (a) != NULL ? sizeof *(a) : 0)

/* Do not call counting_enter: pthread_once calls the program's function, and a cancelled wait runs
 * the program's handlers. Their accesses must count. */
#define BEFORE(result, name, parameters, arguments, ...)                                           \
    EXPORT result counted_##name parameters                                                        \
    {                                                                                              \
        look();                                                                                    \
        __VA_ARGS__;                                                                               \
        return counted_libc.name arguments;                                                        \
    }
COUNTED_OBJECTS(BEFORE)
