/* counted_libc_dynamic.c: finds, in the tables of the dynamic linker, the functions that the
 * program would call without this library. They are libc's, or another library's that comes before
 * libc. Calls inside libc do not use these tables. */
#include "access/counted_libc.h"

#include "allocator/real.h"
#include "allocator/symbols.h"
#include "base/atomics.h"

struct counted_libc counted_libc;
uint32_t counted_libc_found;
const bool counted_libc_comes_here = false;

static const char *const names[] = {
#define COUNTED_NAME(result, name, ...) #name,
    COUNTED_ROWS(COUNTED_NAME) COUNTED_OBJECTS(COUNTED_NAME) COUNTED_BY_HAND(COUNTED_NAME)
        COUNTED_NUMBERS(COUNTED_NAME) COUNTED_REALS(COUNTED_NAME)
#define COUNTED_FORWARD(name, forward, ...) #forward,
            COUNTED_PRINTS(COUNTED_FORWARD) COUNTED_SCANS(COUNTED_FORWARD)
};
static_assert(sizeof(struct counted_libc) == countof(names) * sizeof(void *), "in its order");

COLD void
counted_libc_find(void)
{
    void **to = (void **)(void *)&counted_libc;

    if (real_libc() == NULL)
        return;
    for (size_t i = 0; i < countof(names); i++)
        to[i] = real_symbol(names[i]);
    store_release(&counted_libc_found, 1u);
}

bool
counted_libc_has_lines(void)
{
    struct symbols_name n = symbols_name("getline", NULL);
    struct symbols libc;
    uint32_t index;

    if (real_libc() == NULL || !symbols_read(real_libc(), &libc))
        return false;
    index = symbols_find(&libc, &n);
    return index != 0 && symbols_address(&libc, index) == (void *)counted_libc.getline;
}
