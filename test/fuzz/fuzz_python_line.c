/* fuzz_python_line.c: any bytes as the line table of a Python function, in the format that the
 * first byte selects, for an instruction that the next two select. It must end and stay in bounds,
 * and an instruction must have the same line however much follows in the table. */
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
    table = malloc(size); // An exact copy, so that the sanitizer catches reads beyond it.
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
