/* fuzz_shorten.c: shorten any bytes, as a function name, to a width that the first byte selects.
 * The result must fit, be valid UTF-8 without control characters, and be empty only if the name or
 * the width is. */
/* covers: shorten.c */
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Return the number of code points in S; end the program if S is not valid UTF-8 or contains a
 * control character. */
static size_t
check_columns(const unsigned char *s)
{
    size_t count = 0;

    for (; *s != '\0'; count++) {
        unsigned length = *s < 0x80 ? 1 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;

        if (*s < 0x20 || *s == 0x7f || (*s >= 0x80 && *s < 0xc2) || *s > 0xf4)
            abort();
        for (unsigned i = 1; i < length; i++)
            if ((s[i] & 0xc0) != 0x80)
                abort();
        s += length;
    }
    return count;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    size_t width;
    char *name;
    const char *result;

    if (size == 0)
        return 0;
    width = data[0];
    name = malloc(size);
    if (name == NULL)
        return 0;
    memcpy(name, data + 1, size - 1);
    name[size - 1] = '\0';
    result = symbol_shorten(&arena, name, width);
    if (check_columns((const unsigned char *)result) > width)
        abort();
    if (name[0] == '\0' && result[0] != '\0')
        abort();
    arena_release(&arena);
    free(name);
    return 0;
}
