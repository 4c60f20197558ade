/* counted_format.c: parses formats.
 *
 * A conversion is % [position$] [flags] [width] [.precision] [size] letter. Width and precision may
 * be arguments themselves (*, *position$). With positions, the types of all arguments must be known
 * before the first one can be fetched, so such formats are parsed twice.
 *
 * An unknown letter ends the parsing, because a program may have registered it with arguments of
 * any type. Arguments after it are not counted. Arguments of formats with more than 64 positions
 * are not counted either. Such a call suppresses the verdict "never" in the whole process. */
#include "access/counted_calls.h"

#include "access/counted_objects.h"
#include "access/counting.h"

enum { POSITIONS_MAX = 64, SCANNED_MAX = 4096 };

enum argument { ARGUMENT_INT, ARGUMENT_WORD, ARGUMENT_DOUBLE, ARGUMENT_LONG_DOUBLE };

/* A width or precision in a format: a literal or an argument. */
struct number {
    int value;         // Value of a literal; -1 = none.
    bool is_argument;  // `*`
    uint32_t position; // Position of the argument; 0 = the next one.
};

struct conversion {
    uint32_t position; // 0 = the next one.
    struct number width, precision;
    uint32_t size_bytes; // Size of an integer; 16 = long double.
    bool suppressed, allocates; // scanf's flags * and m.
    uint32_t letter;
};

struct format {
    const void *text;
    bool wide;
    size_t at;
};

/* The arguments. The struct lets helpers share one va_list. */
struct arguments {
    va_list list;
};

static inline uint32_t
character(const struct format *f)
{
    return f->wide ? (uint32_t)((const wchar_t *)f->text)[f->at]
                   : ((const unsigned char *)f->text)[f->at];
}

static bool
counted_format_take(struct format *f, char c)
{
    bool is = character(f) == (unsigned char)c;

    f->at += is;
    return is;
}

static bool
counted_format_is_one_of(uint32_t c, const char *set)
{
    for (; *set != '\0'; set++)
        if (c == (unsigned char)*set)
            return true;
    return false;
}

static int
digits(struct format *f)
{
    uint32_t n = 0;

    for (; character(f) >= '0' && character(f) <= '9'; f->at++)
        if (n < 100000000)
            n = n * 10 + (character(f) - '0');
    return (int)n;
}

/* Parse a position such as "12$" and return it. Otherwise return 0 and consume nothing. */
static uint32_t
position(struct format *f)
{
    size_t from = f->at;
    int n = digits(f);

    if (n > 0 && counted_format_take(f, '$'))
        return (uint32_t)n;
    f->at = from;
    return 0;
}

static struct number
counted_format_number(struct format *f)
{
    struct number n = {.value = -1};

    if (counted_format_take(f, '*')) {
        n.is_argument = true;
        n.position = position(f);
    } else if (character(f) >= '0' && character(f) <= '9') {
        n.value = digits(f);
    }
    return n;
}

static uint32_t
size_of_integer(struct format *f)
{
    if (counted_format_take(f, 'h'))
        return counted_format_take(f, 'h') ? 1 : 2;
    if (counted_format_take(f, 'l')) {
        counted_format_take(f, 'l');
        return 8;
    }
    if (counted_format_take(f, 'L'))
        return 16;
    if (counted_format_is_one_of(character(f), "qjzZt")) {
        f->at++;
        return 8;
    }
    return 4;
}

/* Parse the next conversion of F, after literal text. Return false at the end. */
static bool
next_print(struct format *f, struct conversion *c)
{
    while (character(f) != '%')
        if (character(f) == '\0')
            return false;
        else
            f->at++;
    f->at++;
    *c = (struct conversion){.position = position(f), .precision.value = -1};
    while (counted_format_is_one_of(character(f), "-+ #0'I"))
        f->at++;
    c->width = counted_format_number(f);
    if (counted_format_take(f, '.')) {
        c->precision = counted_format_number(f);
        if (c->precision.value < 0)
            c->precision.value = 0;
    }
    c->size_bytes = size_of_integer(f);
    c->letter = character(f);
    f->at += c->letter != '\0';
    return c->letter != '\0';
}

/* Return true if C has an argument, and store its type in *RET_TYPE. For an unknown letter, return
 * false and set *RET_KNOWN to false. */
static bool
counted_format_has_argument(const struct conversion *c, enum argument *ret_type, bool *ret_known)
{
    *ret_known = true;
    *ret_type = c->size_bytes == 8 ? ARGUMENT_WORD : ARGUMENT_INT;
    if (c->letter == '%' || c->letter == 'm')
        return false;
    if (counted_format_is_one_of(c->letter, "spSn") ||
        (c->size_bytes == 16 && counted_format_is_one_of(c->letter, "dioux")))
        *ret_type = ARGUMENT_WORD;
    else if (counted_format_is_one_of(c->letter, "eEfFgGaA"))
        *ret_type = c->size_bytes == 16 ? ARGUMENT_LONG_DOUBLE : ARGUMENT_DOUBLE;
    else if (!counted_format_is_one_of(c->letter, "diouxXbBcC"))
        *ret_known = false;
    return *ret_known;
}

static uint64_t
fetch(struct arguments *a, enum argument type)
{
    switch (type) {
    case ARGUMENT_INT:
        return (uint64_t)(int64_t)va_arg(a->list, int);
    case ARGUMENT_WORD:
        return va_arg(a->list, uint64_t);
    case ARGUMENT_DOUBLE:
        (void)va_arg(a->list, double);
        return 0;
    case ARGUMENT_LONG_DOUBLE:
        (void)va_arg(a->list, long double);
        return 0;
    }
    return 0;
}

/* Count the accesses of C to its argument VALUE, a pointer. */
static void
count_printed(const struct conversion *c, uint64_t value, int precision)
{
    const void *p = (const void *)(uintptr_t)value;
    bool is_wide = c->letter == 'S' || c->size_bytes == 8;

    if (p == NULL)
        return;
    if (c->letter == 'n')
        W(p, c->size_bytes);
    else if (c->letter != 's' && c->letter != 'S')
        return;
    else if (is_wide && precision >= 0)
        wides(p, (size_t)precision);
    else if (is_wide)
        wide(p);
    else
        texts(p, precision >= 0 ? (size_t)precision : SIZE_MAX);
}

static void
print_in_order(struct format *f, struct arguments *a)
{
    struct conversion c;
    enum argument type;
    bool known;

    while (next_print(f, &c)) {
        int precision = c.precision.value;

        if (c.width.is_argument)
            fetch(a, ARGUMENT_INT);
        if (c.precision.is_argument)
            precision = (int)fetch(a, ARGUMENT_INT);
        if (counted_format_has_argument(&c, &type, &known))
            count_printed(&c, fetch(a, type), precision);
        if (!known) {
            uncounted_note(UNCOUNTED_FORMAT);
            return;
        }
    }
}

/* Set the type of the argument at POSITION to TYPE. Return false if the position is 0 or too
 * large. */
static bool
counted_format_note(uint8_t *types, uint32_t *count, uint32_t position, enum argument type)
{
    if (position == 0 || position > POSITIONS_MAX)
        return false;
    types[position - 1] = (uint8_t)type;
    if (position > *count)
        *count = position;
    return true;
}

/* Find the types of all arguments of F, which has positions. Return false if they are unknown. */
static bool
note_all(struct format f, uint8_t *types, uint32_t *count)
{
    struct conversion c;
    enum argument type;
    bool known;

    while (next_print(&f, &c)) {
        if (c.width.is_argument &&
            !counted_format_note(types, count, c.width.position, ARGUMENT_INT))
            return false;
        if (c.precision.is_argument &&
            !counted_format_note(types, count, c.precision.position, ARGUMENT_INT))
            return false;
        if (counted_format_has_argument(&c, &type, &known) &&
            !counted_format_note(types, count, c.position, type))
            return false;
        if (!known)
            return false;
    }
    return true;
}

static void
print_by_position(struct format *f, struct arguments *a)
{
    uint8_t types[POSITIONS_MAX] = {0};
    uint64_t values[POSITIONS_MAX];
    uint32_t count = 0;
    struct conversion c;
    enum argument type;
    bool known;

    if (!note_all(*f, types, &count)) {
        uncounted_note(UNCOUNTED_FORMAT);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        values[i] = fetch(a, (enum argument)types[i]);
    while (next_print(f, &c)) {
        int precision = c.precision.is_argument ? (int)values[c.precision.position - 1]
                                                : c.precision.value;

        if (counted_format_has_argument(&c, &type, &known))
            count_printed(&c, values[c.position - 1], precision);
    }
}

static void
prints(struct format f, va_list list)
{
    struct format first = f;
    struct conversion c;
    struct arguments a;

    if (!counting_is_on())
        return;
    R(f.text, f.wide ? WIDE(wide_length(f.text) + 1) : length(f.text) + 1);
    while (next_print(&first, &c) && c.letter == '%')
        continue;
    if (c.letter == '\0' || c.letter == '%')
        return;
    va_copy(a.list, list);
    if (c.position != 0)
        print_by_position(&f, &a);
    else
        print_in_order(&f, &a);
    va_end(a.list);
}

void
counted_format_prints(const char *format, va_list arguments)
{
    prints((struct format){.text = format}, arguments);
}

void
counted_format_prints_wide(const wchar_t *format, va_list arguments)
{
    prints((struct format){.text = format, .wide = true}, arguments);
}

/* --- scanf ------------------------------------------------------------------------------------ */

/* Skip the set of characters after a "[". */
static void
skip_set(struct format *f)
{
    counted_format_take(f, '^');
    counted_format_take(f, ']');
    while (character(f) != '\0' && !counted_format_take(f, ']'))
        f->at++;
}

/* Parse the next conversion of F. Return false at the end. Unless MATCHED, also return false at
 * literal text before the conversion, because the input may not match that text. */
static bool
next_scan(struct format *f, struct conversion *c, bool matched)
{
    for (; character(f) != '%'; f->at++)
        if (character(f) == '\0' ||
            (!matched && !counted_format_is_one_of(character(f), " \t\n\v\f\r")))
            return false;
    f->at++;
    *c = (struct conversion){.position = position(f)};
    while (counted_format_is_one_of(character(f), "*'I"))
        c->suppressed |= counted_format_take(f, '*') || (f->at++, false);
    c->width = counted_format_number(f);
    c->allocates = counted_format_take(f, 'm');
    c->size_bytes = size_of_integer(f);
    c->letter = character(f);
    f->at += c->letter != '\0';
    if (c->letter == '[')
        skip_set(f);
    return c->letter != '\0';
}

/* Return the pointer argument of C: the next one of A, or the one at C's position in ALL. */
static void *
scan_pointer(const struct conversion *c, struct arguments *a, struct arguments *all)
{
    struct arguments copy;
    void *p = NULL;

    if (c->position == 0)
        return va_arg(a->list, void *);
    va_copy(copy.list, all->list);
    for (uint32_t i = 0; i < c->position; i++)
        p = va_arg(copy.list, void *);
    va_end(copy.list);
    return p;
}

/* Count the write of C through P. */
static void
count_scanned(const struct conversion *c, const void *p)
{
    bool is_wide = c->letter == 'S' || c->letter == 'C' || c->size_bytes == 8;
    size_t count = c->width.value > 0 ? (size_t)c->width.value : 1;

    if (c->allocates)
        W(p, sizeof(void *));
    else if (counted_format_is_one_of(c->letter, "cC"))
        W(p, is_wide ? WIDE(count) : count);
    else if (counted_format_is_one_of(c->letter, "sS[") && is_wide)
        W(p, WIDE(wide_length(p) + 1));
    else if (counted_format_is_one_of(c->letter, "sS["))
        W(p, length(p) + 1);
    else if (c->letter == 'p')
        W(p, sizeof(void *));
    else if (counted_format_is_one_of(c->letter, "eEfFgGaA"))
        W(p, c->size_bytes);
    else
        W(p, c->size_bytes == 16 ? sizeof(long long) : c->size_bytes);
}

void
counted_format_scans(const char *format, int conversions, va_list list)
{
    struct format f = {.text = format};
    struct arguments a, all;
    struct conversion c;

    if (!counting_is_on())
        return;
    R(format, length(format) + 1);
    va_copy(a.list, list);
    va_copy(all.list, list);
    while (conversions >= 0 && next_scan(&f, &c, conversions > 0)) {
        if (c.letter == '%' || c.suppressed)
            continue;
        if (c.letter != 'n' && conversions-- == 0)
            break;
        if (!counted_format_is_one_of(c.letter, "diouxXbBpeEfFgGaAcCsS[n") ||
            c.position > SCANNED_MAX) {
            uncounted_note(UNCOUNTED_FORMAT);
            break;
        }
        count_scanned(&c, scan_pointer(&c, &a, &all));
    }
    va_end(all.list);
    va_end(a.list);
}
