/* counted_libc_dynamic.c: libc's functions, found in its dynamic symbols. Calls inside libc do not
 * go through those.
 */
#include "access/counted_libc.h"

#include "allocator/behind.h"
#include "allocator/symbols.h"
#include "base/atomics.h"

struct counted_libc counted_libc;
uint32_t counted_libc_found;
const bool counted_libc_comes_here = false;

static void *
libc_function(const struct symbols *libc, const char *name)
{
    struct symbols_name n = symbols_name(name, NULL);
    uint32_t index = symbols_find(libc, &n);

    return index != 0 ? symbols_address(libc, index) : NULL;
}

COLD void
counted_libc_find(void)
{
    struct symbols libc;

    if (behind_libc() == NULL || !symbols_read(behind_libc(), &libc))
        return;
#define FIND(result, name, parameters)                                                             \
    *(void **)(void *)&counted_libc.name = libc_function(&libc, #name);
    COUNTED_FUNCTIONS(FIND)
#undef FIND
    store_release(&counted_libc_found, 1u);
}
