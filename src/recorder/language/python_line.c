/* python_line.c: finds the line of an instruction in the line table of its code object.
 *
 * There are three formats: for 3.9, for 3.10 and since 3.11. Each lists ranges of instructions in
 * order, with the change of the line from one range to the next:
 *
 *     3.9    bytes (0-255), lines (-128..127)      the line begins after the range
 *     3.10   bytes (0-254), lines (-127..127)      the line of the range; -128: it has none
 *     3.11   1 kkkk nnn, and more by the kind k    n + 1 units of two bytes; other bytes have no
 *                                                  highest bit, so unknown ones can be passed over
 *
 * The table is untrusted: reading never passes its end, whatever it contains.
 */
#include "language/python_adapter.h"

static unsigned
python_line_clean(int64_t line)
{
    return line > 0 && line <= INT32_MAX ? (unsigned)line : 0;
}

static unsigned
line_in_table(const unsigned char *table, size_t bytes, int64_t line, uint64_t at)
{
    uint64_t where = 0;

    for (size_t i = 0; i + 1 < bytes; i += 2) {
        where += table[i];
        if (where > at)
            break;
        line += (signed char)table[i + 1];
    }
    return python_line_clean(line);
}

static unsigned
line_in_ranges(const unsigned char *table, size_t bytes, int64_t line, uint64_t at)
{
    uint64_t end = 0;

    for (size_t i = 0; i + 1 < bytes; i += 2) {
        int delta = (signed char)table[i + 1];

        if (delta != -128)
            line += delta;
        end += table[i];
        if (end > at)
            return delta != -128 ? python_line_clean(line) : 0;
    }
    return 0;
}

enum { LOCATION_ONE_LINE = 10, LOCATION_NO_COLUMNS = 13, LOCATION_LONG, LOCATION_NONE };

/* Read the signed number at TABLE[I]: six bits per byte; if the seventh bit is set, another byte
 * follows. */
static int64_t
signed_number(const unsigned char *table, size_t bytes, size_t i)
{
    uint64_t value = 0;

    for (unsigned shift = 0; i < bytes && !(table[i] & 128) && shift < 36; i++, shift += 6) {
        value |= (uint64_t)(table[i] & 63) << shift;
        if (!(table[i] & 64))
            break;
    }
    return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static unsigned
line_in_locations(const unsigned char *table, size_t bytes, int64_t line, uint64_t at)
{
    uint64_t end = 0;

    for (size_t i = 0; i < bytes;) {
        unsigned kind = table[i] >> 3 & 15;

        end += 2 * ((uint64_t)(table[i] & 7) + 1);
        i++;
        if (kind == LOCATION_NO_COLUMNS || kind == LOCATION_LONG)
            line += signed_number(table, bytes, i);
        else if (kind >= LOCATION_ONE_LINE && kind < LOCATION_NO_COLUMNS)
            line += kind - LOCATION_ONE_LINE;
        if (end > at)
            return kind != LOCATION_NONE ? python_line_clean(line) : 0;
        while (i < bytes && !(table[i] & 128))
            i++;
    }
    return 0;
}

unsigned
python_line_of(enum python_lines kind, const unsigned char *table, size_t bytes, unsigned first,
               uint64_t at)
{
    switch (kind) {
    case PYTHON_LINES_TABLE:
        return line_in_table(table, bytes, first, at);
    case PYTHON_LINES_RANGES:
        return line_in_ranges(table, bytes, first, at);
    case PYTHON_LINES_LOCATIONS:
        return line_in_locations(table, bytes, first, at);
    }
    return 0;
}
