/* fuzz_ecl_symbols.c: read any bytes as a file that ECL has compiled. Reading must end, stay in
 * bounds, and return only terminated names that are not empty. */
/* covers: ecl_symbols.c */
#include "language/ecl_symbols.c"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
ecl_symbols_on_function(void *arg, uint64_t value, const char *name)
{
    (void)arg;
    if (value == 0 || name[0] == '\0' || strlen(name) >= NAME_BYTES)
        abort();
}

static void
ecl_symbols_on_part(void *arg, uint64_t value, uint64_t whole)
{
    (void)whole;
    *(uint64_t *)arg += value;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // The copy has exactly the input's size, so that the sanitizer reports reads beyond it.
    uint8_t *copy = malloc(size);
    uint64_t sum = 0;

    if (copy == NULL)
        return 0;
    if (size != 0)
        memcpy(copy, data, size);
    ecl_symbols_read(copy, size, ecl_symbols_on_function, ecl_symbols_on_part, &sum);
    free(copy);
    return 0;
}
