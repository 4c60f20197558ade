/* fuzz_python_line.c: read any bytes as the line table of a Python function, in the format that the
 * first byte selects, for an instruction that the next two bytes select. Reading must end and stay
 * in bounds, and an instruction must have the same line however much follows in the table. */
/* covers: python_line.c */
#include "language/python_line.c"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum python_lines kind;
    uint64_t at;
    unsigned char *table;
    unsigned line;

    if (size < 3)
        return 0;
    kind = PYTHON_LINES_TABLE + data[0] % 3;
    at = 2 * ((uint64_t)data[1] << 8 | data[2]);
    size -= 3;
    // The copy has exactly the input's size, so that the sanitizer reports reads beyond it.
    table = malloc(size);
    if (table == NULL && size != 0)
        return 0;
    if (size != 0)
        memcpy(table, data + 3, size);
    line = python_line_of(kind, table, size, 7, at);
    free(table);
    table = malloc(size + 2);
    if (table == NULL)
        return 0;
    memcpy(table, data + 3, size);
    table[size] = 0x80 | LOCATION_NONE << 3;
    table[size + 1] = 0x80 | LOCATION_NONE << 3;
    if (kind == PYTHON_LINES_LOCATIONS && line != 0 &&
        python_line_of(kind, table, size + 2, 7, at) != line)
        abort();
    free(table);
    return 0;
}
