/* counted_libc_static.c: libc's functions in a static executable, which the linker knows by these
 * names (--wrap). It gives us the calls that libc's own objects make, too.
 */
#include "access/counted_libc.h"

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names
#define REAL(result, name, parameters) result __real_##name parameters;
COUNTED_FUNCTIONS(REAL)
#undef REAL

struct counted_libc counted_libc = {
#define FOUND(result, name, parameters) .name = __real_##name,
    COUNTED_FUNCTIONS(FOUND)
#undef FOUND
};
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

uint32_t counted_libc_found = 1;
const bool counted_libc_comes_here = true;

void
counted_libc_find(void)
{
}
