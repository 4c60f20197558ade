/* counted_libc_static.c: libc's functions in a static executable, where the linker names them
 * __real_… (--wrap). The linker also redirects the calls from libc's own objects to this
 * library. */
#include "access/counted_libc.h"

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names
#define REAL(result, name, parameters, ...) result __real_##name parameters;
COUNTED_ROWS(REAL)
COUNTED_OBJECTS(REAL)
COUNTED_BY_HAND(REAL)
#define REAL_NUMBER(result, name, type) result __real_##name(const type *, type **, int);
COUNTED_NUMBERS(REAL_NUMBER)
#define REAL_REAL(result, name, type) result __real_##name(const type *, type **);
COUNTED_REALS(REAL_REAL)
#define REAL_PRINT(name, forward, type, parameters, ...)                                           \
    int __real_##forward(COUNTED_UNPACK parameters const type *, va_list);
COUNTED_PRINTS(REAL_PRINT)
#define REAL_SCAN(name, forward, parameters, ...)                                                  \
    int __real_##forward(COUNTED_UNPACK parameters const char *, va_list);
COUNTED_SCANS(REAL_SCAN)

struct counted_libc counted_libc = {
#define FOUND(result, name, ...) .name = __real_##name,
    COUNTED_ROWS(FOUND) COUNTED_OBJECTS(FOUND) COUNTED_BY_HAND(FOUND) COUNTED_NUMBERS(FOUND)
        COUNTED_REALS(FOUND)
#define FOUND_FORWARD(name, forward, ...) .forward = __real_##forward,
        COUNTED_PRINTS(FOUND_FORWARD) COUNTED_SCANS(FOUND_FORWARD)
};

uint32_t counted_libc_found = 1;
const bool counted_libc_comes_here = true;

void
counted_libc_find(void)
{
}

/* The strong name of libc's getline. */
ssize_t __getline(char **to, size_t *room, FILE *f);

bool
counted_libc_has_lines(void)
{
    return __real_getline == __getline;
}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
